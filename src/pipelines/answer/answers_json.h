// Answers to questions as JSON.
#pragma once

#include <span>
#include <string>

#include "alate/answer.h"

namespace alate::pipelines {

/// [{"text": "Berlin", "start": 34, "end": 40, "score": 0.91, "byte_start": 34, "byte_end": 40}, …]
std::string answers_json(std::span<const Answer> answers);

/// As transformers' pipeline, and with it Hugging Face's clients, writes them: {"score": 0.91, "start": 34, "end": 40,
/// "answer": "Berlin"}, in a list unless there is one.
std::string hugging_face_answers_json(std::span<const Answer> answers);

}  // namespace alate::pipelines
