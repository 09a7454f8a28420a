// The longest token at each place, from left to right, as RWKV's World tokenizer does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/models/model.h"

namespace alate::tokenizers {

/// `tokens` are byte strings, which need not be UTF-8; a token's id is its position, and empty ones are never found.
/// The texts of tokens are in the byte-level alphabet (byte_alphabet.h), so byte_level_decoder decodes them. `where`
/// names the file in errors. Tokenizing throws corrupt where no token fits.
ModelPtr longest_match(const std::vector<std::string>& tokens, std::string_view where);

}  // namespace alate::tokenizers
