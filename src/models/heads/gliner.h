// The head of GLiNER models: scores of a text's words with labels.
#pragma once

#include "models/encoder.h"
#include "models/heads/gliner_config.h"

namespace alate::models {

/// The end of the class that a GLiNER model's backbone is shown as.
inline constexpr std::string_view kGlinerHead = "ForGLiNER";

/// `logits`, for each pair of a word and a label of its row (WordInputs::pairs): of spans [pairs, max_width], those
/// that begin with the word and have 1, 2, … words, where numbers of spans that go beyond the row's words mean nothing;
/// of words [pairs, 3], whether an entity begins with the word, ends with it, and has it inside.
const EncoderHead& gliner_head();

}  // namespace alate::models
