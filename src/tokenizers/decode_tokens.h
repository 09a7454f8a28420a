// Texts of tokens that are given by their own texts.
#pragma once

#include <span>
#include <string>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// As `convert_tokens_to_string` of transformers: tokens need not be in the vocabulary.
std::string decode_tokens(const Tokenizer& tokenizer, std::span<const std::string> tokens);

}  // namespace alate::tokenizers
