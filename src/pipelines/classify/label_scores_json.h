// Scores of labels as JSON.
#pragma once

#include <span>
#include <string>

#include "alate/classify.h"

namespace alate::pipelines {

/// [{"label": "POSITIVE", "score": 0.9}, …]
std::string label_scores_json(std::span<const LabelScore> scores);

}  // namespace alate::pipelines
