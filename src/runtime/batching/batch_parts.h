// How a batch of texts is cut into parts that go through a whole model one beside the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace alate::runtime {

/// Sequences [first, last) of a batch, which are its tokens [first_token, last_token).
struct BatchPart {
  std::size_t first = 0, last = 0;
  std::size_t first_token = 0, last_token = 0;
};

/// Tokens that one thread best takes through a model together, of whose weights each run reads so many bytes: what is
/// computed of them should stay in the cache of one core, and weights that do not be read for much work.
std::size_t tokens_at_once(std::size_t weight_bytes);

/// Cuts a batch of sequences of these lengths, in order, for `workers` threads that take parts as they come free: parts
/// of about `most_tokens`, smaller ones at the end, so that all threads end together. Each part has a token. One part
/// (the whole batch) where the threads would not be busy all the time: work inside the batch is shared better.
std::vector<BatchPart> split_batch(std::span<const std::int32_t> lengths, std::size_t workers, std::size_t most_tokens);

/// Cuts a batch, in order, for a runtime that fills each row up to the longest one of its part: no part computes more
/// than about twice its own tokens, so that one long text among many short ones does not make long ones of them all.
/// Sequences without tokens are in parts too, but for a batch that has no token at all: that gives none.
std::vector<BatchPart> split_padded(std::span<const std::int32_t> lengths);

}  // namespace alate::runtime
