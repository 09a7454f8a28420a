// From scores of spans of words to the spans that are kept.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/threads/cancellation.h"
#include "models/heads/gliner_config.h"

namespace alate::pipelines {

/// Words [first, last] of a text with a label.
struct ScoredSpan {
  std::size_t first = 0, last = 0, label = 0;
  float score = 0;
};

/// Most spans of a text that may be above the threshold.
inline constexpr std::size_t kMostSpans = 500'000;

/// Appends the spans of a row with a score above `threshold`. `logits` are those of models::gliner_head for the row,
/// whose words are those of the text from `first_word` on. Throws resource_exhausted for more than kMostSpans, and
/// cancelled.
void append_spans(const models::GlinerConfig& config, std::span<const float> logits, std::size_t words,
                  std::size_t labels, std::size_t first_word, float threshold, const base::Cancellation& cancellation,
                  std::vector<ScoredSpan>& spans);

/// What may be kept of spans with words in common.
struct SpanRules {
  bool nested = false;       // one within the other; else none
  bool multi_label = false;  // the same words with several labels
};

/// The best ones, in the order of their first words, as the package gliner chooses them: the one with the highest score
/// first, then all that the rules allow beside those chosen before. Of the same span with the same label in several
/// windows the higher score counts. Throws cancelled.
std::vector<ScoredSpan> choose_spans(std::vector<ScoredSpan> spans, const SpanRules& rules,
                                     const base::Cancellation& cancellation);

}  // namespace alate::pipelines
