// The "added_tokens" of a tokenizer.json.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/added_vocabulary.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// Throws corrupt. AddedVocabulary numbers the tokens, whatever ids the file gives them.
std::vector<NumberedToken> read_added_tokens(const Json::Array& list, std::string_view where);

}  // namespace alate::tokenizers
