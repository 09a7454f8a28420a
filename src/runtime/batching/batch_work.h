// A cost model for rows of tokens, so that clients get equal shares of work.
#pragma once

#include <cstddef>

namespace alate::runtime {

/// The row length at which attention is as much work as everything else. A layer of an encoder multiplies each token by
/// about 12 · hidden² weights (four projections, and a feed-forward that is four times as wide), and attention takes 2
/// · hidden · length multiplications for it: its scores and the sum over values.
constexpr std::size_t even_row_length(std::size_t hidden_size) { return 6 * (hidden_size == 0 ? 384 : hidden_size); }

/// The work of `tokens` tokens in rows of `row_length` each, in units of a token of a short row; rounded down. Both
/// must be below 2^31.
constexpr std::size_t batch_work(std::size_t tokens, std::size_t row_length, std::size_t even_length) {
  return tokens + tokens * row_length / (even_length == 0 ? 1 : even_length);
}

}  // namespace alate::runtime
