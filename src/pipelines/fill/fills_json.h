// Filled masks as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "alate/fill.h"

namespace alate::pipelines {

/// A list for each mask: [[{"token": " blue", "score": 0.12, "text": "The sky is blue.", "id": 2440}, …], …]
std::string fills_json(std::span<const std::vector<Fill>> masks);

/// As transformers' pipeline, and with it Hugging Face's clients, writes them: [{"score": 0.12, "token": 2440,
/// "token_str": " blue", "sequence": "The sky is blue."}, …], in a further list if there are several masks.
std::string hugging_face_fills_json(std::span<const std::vector<Fill>> masks);

}  // namespace alate::pipelines
