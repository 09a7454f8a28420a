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

/// Cuts a batch of sequences of these lengths, in order, for `workers` threads that take parts as they come free: parts
/// of so many tokens that what a model computes of them stays in the cache of one core, smaller ones at the end, so
/// that all threads end together. Each part has a token. One part (the whole batch) where the threads would not be busy
/// all the time: work inside the batch is shared better.
std::vector<BatchPart> split_batch(std::span<const std::int32_t> lengths, std::size_t workers);

}  // namespace alate::runtime
