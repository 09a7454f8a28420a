#include "pipelines/extract/extract_call.h"

#include <limits>
#include <string>
#include <utility>

#include "pipelines/extract/read_schema.h"
#include "pipelines/extract/read_values.h"
#include "pipelines/gliner/extraction_words.h"
#include "pipelines/task_head.h"

namespace alate::pipelines {
namespace {

constexpr auto kMostInstances = static_cast<std::size_t>(models::ExtractorConfig::kInstances);

}  // namespace

ExtractCall::ExtractCall(const TextModel& model, const Extractor& extractor, ExtractSchema schema)
    : model_(model), extractor_(extractor), schema_(std::move(schema)) {
  check_schema(schema_);
}

std::size_t ExtractCall::instances() const {
  return schema_.structures.empty() && schema_.relations.empty() ? 1 : kMostInstances;
}

std::shared_ptr<const runtime::BatchProgram> ExtractCall::program() const {
  return extract_entry_point(model_.model.state(), instances() == 1);
}

TextRows ExtractCall::make_rows(std::span<const std::string_view> texts, const LongTextOptions& long_texts,
                                const base::Cancellation& cancellation) {
  prompt_ = make_schema_prompt(model_, extractor_, schema_, row_length(model_, long_texts), cancellation);
  const WordRules rules{.split = split_extraction_words,
                        .lowers = true,
                        .most_words = std::numeric_limits<std::size_t>::max(),
                        .scores_of_pair = static_cast<std::size_t>(extractor_.config.max_width) * instances(),
                        .period = extractor_.period};
  WordRows made = make_word_rows(model_, prompt_.around, rules, texts, long_texts, cancellation);
  texts_ = std::move(made.texts);
  first_words_ = std::move(made.first_words);
  row_words_ = std::move(made.word_counts);
  return std::move(made.rows);
}

std::vector<Extraction> ExtractCall::extractions(const RowResults& results, std::span<const std::string_view> texts,
                                                 float threshold) const {
  const ExtractScope scope{.config = extractor_.config,
                           .schema = schema_,
                           .prompt = prompt_,
                           .threshold = threshold,
                           .cancellation = results.cancellation()};
  const std::size_t marks = prompt_.around.marks.size() * (models::ExtractorConfig::kCounts + 1);
  std::vector<Extraction> read(texts.size());
  for_each_input(results, [&](std::size_t input, std::size_t begin, std::size_t end) {
    std::vector<ExtractedRow> rows;
    for (std::size_t row = begin; row < end; ++row) {
      const std::span<const float> numbers = results.of(row);
      const std::size_t spans = numbers.size() - marks;
      rows.push_back({.spans = numbers.first(spans),
                      .marks = numbers.subspan(spans),
                      .instances = instances(),
                      .first_word = first_words_[row],
                      .words = row_words_[row]});
    }
    read[input] = read_extraction(scope, texts_[input], texts[input], rows);
  });
  return read;
}

}  // namespace alate::pipelines
