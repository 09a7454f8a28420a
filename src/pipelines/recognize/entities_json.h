// Entities as JSON.
#pragma once

#include <span>
#include <string>

#include "alate/recognize.h"

namespace alate::pipelines {

/// [{"text": "Ada", "label": "PER", "start": 0, "end": 3, "score": 0.99, "byte_start": 0, "byte_end": 3}, …]
std::string entities_json(std::span<const Entity> entities);

/// As transformers' pipeline, and with it Hugging Face's clients, writes them: [{"entity_group": "PER", "score": 0.99,
/// "word": "ada", "start": 0, "end": 3}, …]; of tokens, "entity" and "index".
std::string hugging_face_entities_json(std::span<const Entity> entities);

}  // namespace alate::pipelines
