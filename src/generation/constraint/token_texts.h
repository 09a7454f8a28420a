// The texts of a tokenizer's tokens, as parts of a generated text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::generation {

/// The bytes that each token adds to a text: empty for special tokens, for those that end a text, and for ids that no
/// token has. A token may be a part of a code point.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::size_t size, std::span<const std::int32_t> ends);

/// Whether the first token of a text loses the space that it begins with, as with SentencePiece.
bool drops_first_space(const Tokenizer& tokenizer, std::span<const std::string> texts);

}  // namespace alate::generation
