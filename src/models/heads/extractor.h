// The head of GLiNER2 models: scores of spans of a text's words for the fields of a schema, and of its tasks' labels.
#pragma once

#include "models/encoder.h"
#include "models/heads/extractor_config.h"

namespace alate::models {

/// The end of the class that a GLiNER2 model's backbone is shown as.
inline constexpr std::string_view kExtractorHead = "ForExtraction";

/// Outputs:
/// - `span_logits` [pairs, max_width, kInstances]: for each pair of a word and a label of its row (WordInputs::pairs),
///   spans that begin with the word and have 1, 2, … words, for the 1st, 2nd, … instance of the label's task. Numbers
///   of spans that go beyond the row's words mean nothing.
/// - `first_span_logits` [pairs, max_width, 1]: the same, only for the first instance.
/// - `mark_logits` [marks, kCounts + 1]: of each token of TaskInputs::mark_tokens, as that of a task the logits of 0,
/// 1,
///   … instances, then its logit as a label of a classification.
const EncoderHead& extractor_head();

}  // namespace alate::models
