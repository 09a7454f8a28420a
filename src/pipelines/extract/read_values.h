// From the scores of a GLiNER2 model to what they say of a text.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/extract.h"
#include "base/threads/cancellation.h"
#include "models/heads/extractor_config.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/extract/schema_prompt.h"
#include "pipelines/gliner/span_choice.h"
#include "pipelines/gliner/word_rows.h"

namespace alate::pipelines {

/// The numbers of a row: those of models::extractor_head.
struct ExtractedRow {
  std::span<const float> spans, marks;    // span_logits, or first_span_logits; mark_logits
  std::size_t instances = 0;              // that `spans` has
  std::size_t first_word = 0, words = 0;  // of the text
};

/// What a call reads of its texts. All must outlive it.
struct ExtractScope {
  const models::ExtractorConfig& config;
  const ExtractSchema& schema;
  const SchemaPrompt& prompt;
  float threshold;
  AnswerBudget& budget;  // of the values' texts
  base::Cancellation cancellation;
};

/// What the answer needs of a row's numbers, which are many more: the instances that the model expects, and the spans
/// that reach their thresholds.
class ReadRow {
 public:
  /// Adds to `spans` those that it keeps, of all rows of the text. Throws resource_exhausted for more than kMostSpans.
  ReadRow(const ExtractScope& scope, const ExtractedRow& row, std::size_t& spans);

  /// How many instances the model expects of a task.
  std::size_t count_of(const PromptTask& task) const;
  float label_logit(std::size_t mark_index) const { return mark(mark_index).back(); }
  /// Of an instance that the model expects: the spans of a label, and the scores of a field's choices.
  const std::vector<ScoredSpan>& spans(std::size_t label, std::size_t instance) const {
    return spans_.at({label, instance});
  }
  std::span<const float> choices(std::size_t label, std::size_t instance) const {
    return choices_.at({label, instance});
  }

 private:
  std::span<const float> mark(std::size_t index) const;

  using Place = std::pair<std::size_t, std::size_t>;  // a label and an instance
  std::vector<float> marks_;
  std::map<Place, std::vector<ScoredSpan>> spans_;
  std::map<Place, std::vector<float>> choices_;
};

/// Of a text, which is `given` where `text` holds no repaired one; `rows` are its windows, in order. Throws cancelled.
Extraction read_extraction(const ExtractScope& scope, const WordText& text, std::string_view given,
                           std::span<const ReadRow> rows);

}  // namespace alate::pipelines
