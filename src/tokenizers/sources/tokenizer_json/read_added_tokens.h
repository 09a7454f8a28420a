// The "added_tokens" of a tokenizer.json.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/added_vocabulary.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// Throws corrupt. The ids in the file are checked and not kept: AddedVocabulary numbers the tokens.
std::vector<AddedToken> read_added_tokens(const Json::Array& list, std::string_view where);

}  // namespace alate::tokenizers
