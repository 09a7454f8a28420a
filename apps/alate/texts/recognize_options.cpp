#include "apps/alate/texts/recognize_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::app {

void declare(Arguments& arguments, RecognizeOptions& options) {
  arguments.list("--labels", "LABEL", "only entities with these labels", options.labels);
  arguments.option("--aggregation", "HOW", "how labels of tokens become entities", [&options](std::string_view name) {
    const std::optional<Aggregation> found = parse_aggregation(name);
    if (!found) throw Error(ErrorCode::invalid_argument, "is one of none, simple, first, average, max");
    options.aggregation = *found;
  });
  arguments.choices({"none", "simple", "first", "average", "max"});
}

void add(FingerprintBuilder& identity, const RecognizeOptions& options) {
  identity.add(to_string(options.aggregation)).add(std::uint64_t{options.labels.size()});
  for (const std::string& label : options.labels) identity.add(std::string_view(label));
}

}  // namespace alate::app
