// Splitting of a batch of texts into parts that go through the whole model in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace alate::runtime {

/// Sequences [first, last) of a batch, with tokens [first_token, last_token).
struct BatchPart {
  std::size_t first = 0, last = 0;
  std::size_t first_token = 0, last_token = 0;
};

/// Splits a batch of sequences of these lengths, in order, for `workers` threads that take parts as they become free:
/// parts of about `most_tokens`, smaller ones at the end, so that all threads finish together. Each part has at least
/// one token. Gives one part (the whole batch) where parts would not keep the threads busy: parallelism inside the
/// batch is then better.
std::vector<BatchPart> split_batch(std::span<const std::int32_t> lengths, std::size_t workers, std::size_t most_tokens);

/// Splits a batch, in order, for a runtime that pads each row to the longest one of its part: no part computes more
/// than about twice its own tokens, so one long text does not pad many short ones to its length. Empty sequences are in
/// parts too, but a batch without any token gives no parts.
std::vector<BatchPart> split_padded(std::span<const std::int32_t> lengths);

}  // namespace alate::runtime
