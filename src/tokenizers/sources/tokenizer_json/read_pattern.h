// Patterns in a tokenizer.json: {"String": …} or {"Regex": …}.
#pragma once

#include <string_view>

#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {

/// The member "pattern" of `part`. Throws corrupt if it is neither form.
PatternText read_pattern(const Json& part, std::string_view where);

/// A member that holds exactly one code point. Throws corrupt.
char32_t character_member(const Json& part, std::string_view key, std::string_view where);

}  // namespace alate::tokenizers
