// Rotary position embedding (RoPE) of f32 heads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Nothing is owned. Strides count floats.
struct RopeArguments {
  const float* x = nullptr;  // [tokens, heads, width]
  std::size_t x_stride = 0;  // between tokens
  float* out = nullptr;      // dense
  std::size_t tokens = 0;
  std::size_t heads = 0;
  std::size_t width = 0;
  std::size_t half = 0;            // pairs that are turned: (i, i + half), or (2i, 2i + 1) when interleaved; the values
  bool interleaved = false;        // behind them are copied
  const float* cosines = nullptr;  // [places, half]
  const float* sines = nullptr;    // [places, half]
  std::size_t places = 0;          // rows of the tables; at least one where there are positions
  // Each token's row of the tables, clamped to their range: at most one of the two; neither: token t uses row t.
  const std::int32_t* positions_32 = nullptr;
  const std::int64_t* positions_64 = nullptr;
};

/// Each pair (a, b) becomes (a cos - b sin, b cos + a sin). The bits of a token depend only on that token.
void rotate_heads(const RopeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers);

}  // namespace alate::cpu
