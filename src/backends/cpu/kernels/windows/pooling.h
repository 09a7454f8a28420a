// Pooling of token vectors to one vector per sequence, with the modes of sentence-transformers' Pooling module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class Pooling : std::uint8_t {
  mean,
  cls,            // the first token
  max,            // of each column
  last,           // the last token
  mean_sqrt_len,  // the sum over the square root of the length
  weighted_mean,  // token i (from 1) weighs i
};

/// Sequence s holds tokens [starts[s], starts[s] + lengths[s]) of x. Nothing is owned. The caller has checked that
/// these lie in x. A sequence of length 0 gives zeros.
struct PoolArguments {
  const float* x = nullptr;  // [tokens, width]
  std::size_t x_stride = 0;  // floats between tokens
  const std::int32_t* starts = nullptr;
  const std::int32_t* lengths = nullptr;
  float* out = nullptr;  // [sequences, width]
  std::size_t out_stride = 0;
  std::size_t sequences = 0;
  std::size_t width = 0;
};

void pool_tokens(Pooling pooling, const PoolArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                 const Kernels& set = kernels());

}  // namespace alate::cpu
