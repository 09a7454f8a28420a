#include "apps/alate/texts/recognize_options.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "alate/error.h"

namespace alate::app {

float parse_score(std::string_view text) {
  float score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  if (error != std::errc() || end != text.data() + text.size() || !(score >= 0 && score <= 1))
    throw Error(ErrorCode::invalid_argument, "is a number from 0 to 1");
  return score;
}

void declare(Arguments& arguments, RecognizeOptions& options) {
  arguments.list("--labels", "LABEL",
                 "only entities with these labels; a GLiNER model looks for them; one with a comma is in double quotes",
                 options.labels);
  arguments.option("--threshold", "SCORE", "only entities with a higher score, 0 to 1; of GLiNER models 0.5",
                   [&options](std::string_view text) { options.threshold = parse_score(text); });
  arguments.one_of("--aggregation", "HOW", "how labels of tokens become entities",
                   {"none", "simple", "first", "average", "max"},
                   [&options](std::string_view name) { options.aggregation = parse_aggregation(name); });
}

void add(FingerprintBuilder& identity, const RecognizeOptions& options) {
  identity.add(options.aggregation ? to_string(*options.aggregation) : "").add(std::uint64_t{options.labels.size()});
  identity.add(options.threshold ? std::to_string(*options.threshold) : "").add(std::uint64_t{options.nested});
  identity.add(std::uint64_t{options.multi_label});
  for (const std::string& label : options.labels) identity.add(std::string_view(label));
}

}  // namespace alate::app
