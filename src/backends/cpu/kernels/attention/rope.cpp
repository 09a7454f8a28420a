#include "backends/cpu/kernels/attention/rope.h"

#include <algorithm>

#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

std::size_t table_row(const RopeArguments& a, std::size_t token) {
  const auto last = static_cast<std::int64_t>(a.places) - 1;
  if (a.positions_32 != nullptr)
    return static_cast<std::size_t>(std::clamp<std::int64_t>(a.positions_32[token], 0, last));
  if (a.positions_64 != nullptr)
    return static_cast<std::size_t>(std::clamp<std::int64_t>(a.positions_64[token], 0, last));
  return token;
}

void turn_halves(const float* __restrict x, const float* __restrict cosines, const float* __restrict sines,
                 std::size_t half, float* __restrict out) {
  for (std::size_t i = 0; i < half; ++i) {
    const float first = x[i], second = x[half + i];
    out[i] = first * cosines[i] - second * sines[i];
    out[half + i] = second * cosines[i] + first * sines[i];
  }
}

void turn_neighbours(const float* __restrict x, const float* __restrict cosines, const float* __restrict sines,
                     std::size_t half, float* __restrict out) {
  for (std::size_t i = 0; i < half; ++i) {
    const float first = x[2 * i], second = x[2 * i + 1];
    out[2 * i] = first * cosines[i] - second * sines[i];
    out[2 * i + 1] = second * cosines[i] + first * sines[i];
  }
}

void turn_token(const RopeArguments& a, std::size_t token) {
  const std::size_t row = table_row(a, token) * a.half;
  const float* x = a.x + token * a.x_stride;
  float* out = a.out + token * a.heads * a.width;
  for (std::size_t head = 0; head < a.heads; ++head, x += a.width, out += a.width) {
    (a.interleaved ? turn_neighbours : turn_halves)(x, a.cosines + row, a.sines + row, a.half, out);
    std::copy(x + 2 * a.half, x + a.width, out + 2 * a.half);
  }
}

}  // namespace

void rotate_heads(const RopeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers) {
  const std::size_t cost = 2 * arguments.heads * arguments.width;
  split_rows(arguments.tokens, cost, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token) turn_token(arguments, token);
  });
}

}  // namespace alate::cpu
