// WordLevel: every piece is one token of the vocabulary, or the unknown token.
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/models/model.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

/// `where` names the file in the error (corrupt) for a missing unknown token, which is thrown when it is needed.
ModelPtr word_level(Vocabulary vocabulary, std::string unk_token, std::string_view where);

}  // namespace alate::tokenizers
