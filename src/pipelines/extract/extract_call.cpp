#include "pipelines/extract/extract_call.h"

#include <limits>
#include <string>
#include <utility>

#include "pipelines/extract/read_schema.h"
#include "pipelines/extract/read_values.h"
#include "pipelines/gliner/extraction_words.h"
#include "pipelines/tasks/task_head.h"

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
                                TokenBudget& budget, const base::Cancellation& cancellation) {
  if (prompt_.around.ids.empty())
    prompt_ = make_schema_prompt(model_, extractor_, schema_, row_length(model_, long_texts), cancellation);
  const WordRules rules{.split = split_extraction_words,
                        .lowers = true,
                        .most_words = std::numeric_limits<std::size_t>::max(),
                        .period = extractor_.period};
  WordRows made = make_word_rows(model_, prompt_.around, rules, texts, long_texts, budget, cancellation);
  texts_ = std::move(made.texts);
  first_words_ = std::move(made.first_words);
  row_words_ = std::move(made.word_counts);
  return std::move(made.rows);
}

void ExtractCall::take(const RowResults& results, std::span<const std::string_view> texts, float threshold,
                       AnswerBudget& budget, const std::function<void(std::size_t, Extraction)>& each) {
  const ExtractScope scope{.config = extractor_.config,
                           .schema = schema_,
                           .prompt = prompt_,
                           .threshold = threshold,
                           .budget = budget,
                           .cancellation = results.cancellation()};
  const std::size_t marks = prompt_.around.marks.size() * (models::ExtractorConfig::kCounts + 1);
  for_each_input(results, [&](const InputRange& range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::span<const float> numbers = results.of(i);
      const std::size_t spans = numbers.size() - marks, row = results.first_row() + i;
      rows_.emplace_back(scope,
                         ExtractedRow{.spans = numbers.first(spans),
                                      .marks = numbers.subspan(spans),
                                      .instances = instances(),
                                      .first_word = first_words_[row],
                                      .words = row_words_[row]},
                         row_spans_);
    }
    if (!range.is_last) return;
    const WordText& words = texts_[range.input - results.first_text()];
    each(range.input, read_extraction(scope, words, texts[range.input], std::exchange(rows_, {})));
    row_spans_ = 0;
  });
}

}  // namespace alate::pipelines
