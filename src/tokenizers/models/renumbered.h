// A model whose tokens have other ids than its own.
#pragma once

#include "tokenizers/models/model.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

/// Tokenizes as `model` does and numbers the tokens by `vocabulary`; a token that it lacks, or an unknown part of a
/// text that it lacks, becomes `unk_id`.
ModelPtr renumbered(ModelPtr model, Vocabulary vocabulary, std::int32_t unk_id);

}  // namespace alate::tokenizers
