// From the scores of a GLiNER2 model to what they say of a text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "alate/extract.h"
#include "models/heads/extractor_config.h"
#include "pipelines/call_limits.h"
#include "pipelines/extract/schema_prompt.h"
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
};

/// Of a text, which is `given` where `text` holds no repaired one; `rows` are its windows, in order.
Extraction read_extraction(const ExtractScope& scope, const WordText& text, std::string_view given,
                           std::span<const ExtractedRow> rows);

}  // namespace alate::pipelines
