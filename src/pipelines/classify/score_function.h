// From logits to the scores of labels, as the pipelines of transformers make them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "formats/json.h"

namespace alate::pipelines {

enum class ScoreFunction { none, sigmoid, softmax };

/// The one that config.json's problem_type asks for: none for regression, sigmoid for several labels at once and for a
/// single label, else softmax.
ScoreFunction score_function(const formats::Json& config, std::size_t labels);

/// Applied in place.
void scale_logits(ScoreFunction function, std::span<float> logits);

/// The label that a text entails a hypothesis: the first whose name begins with "entail" in any case, else the last.
std::size_t entailment_label(std::span<const std::string> labels);

}  // namespace alate::pipelines
