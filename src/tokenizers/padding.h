// Padding of encodings and their windows.
#pragma once

#include <span>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// Pads each encoding and its windows to one length. `wants_tokens` and `wants_offsets` say which lists they have.
/// Throws resource_exhausted if they would hold more than kMaxPaddedTokens tokens.
void pad_encodings(std::span<Encoding> encodings, const Padding& padding, bool wants_tokens, bool wants_offsets);

inline constexpr std::size_t kMaxPaddedTokens = std::size_t{1} << 28;

}  // namespace alate::tokenizers
