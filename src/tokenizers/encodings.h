// Concatenation of encodings, and truncation into windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// Appends `next` and its windows. As in the reference, the resulting windows are: each window of `encoding` combined
/// with `next` and with each of its windows, then `encoding` itself combined with each window of `next`. Throws
/// resource_exhausted if they would hold more than kMaxWindowTokens tokens.
void append_encoding(Encoding& encoding, Encoding next);

/// Concatenates the encodings in order.
Encoding join_encodings(std::vector<Encoding> encodings);

/// Cuts tokens at `side` to keep `length`; the others go into windows of the same length, each overlapping the previous
/// one by `stride` tokens. Throws invalid_argument unless stride < length or length is 0 (then everything goes into one
/// window), resource_exhausted above kMaxWindowTokens. Without `keep_windows` the others are dropped.
void truncate_encoding(Encoding& encoding, std::size_t length, std::size_t stride, Side side, bool keep_windows = true);

/// Truncates a text, or a pair, to `length` tokens in total. Throws invalid_argument if the strategy cannot do it.
void truncate_encodings(std::vector<Encoding>& encodings, std::size_t length, Truncation strategy, std::size_t stride,
                        Side side, bool keep_windows = true);

inline constexpr std::size_t kMaxWindowTokens = std::size_t{1} << 23;

}  // namespace alate::tokenizers
