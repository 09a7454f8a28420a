// Putting encodings together and cutting them into windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// Appends `next` and its windows. The windows of the result are, as in the reference: each of ours with `next` and
/// with each of its, then ours without windows with each of its. Throws resource_exhausted when they would hold more
/// than kMaxWindowTokens tokens.
void append_encoding(Encoding& encoding, Encoding next);

/// One encoding of all, in order.
Encoding join_encodings(std::vector<Encoding> encodings);

/// Keeps `length` tokens from the side that is not cut; the others go into windows of the same length, each of which
/// repeats `stride` tokens of the one before. Throws invalid_argument unless stride < length or length is 0 (then all
/// is one window), resource_exhausted past kMaxWindowTokens.
void truncate_encoding(Encoding& encoding, std::size_t length, std::size_t stride, Side side);

/// Cuts a text, or a pair, to `length` tokens in all. Throws invalid_argument when the strategy cannot do it.
void truncate_encodings(std::vector<Encoding>& encodings, std::size_t length, Truncation strategy, std::size_t stride,
                        Side side);

inline constexpr std::size_t kMaxWindowTokens = std::size_t{1} << 23;

}  // namespace alate::tokenizers
