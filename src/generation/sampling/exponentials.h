// Softmax's exponentials, from additions, products and bits only, so that they are the same on every platform and the
// compiler makes vectors of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace alate::generation {

/// e^x for x <= 0 (minus infinity too), within 2 units in the last place; 0 where that is below 2^-126, the least float
/// of full precision. Without a branch.
inline float exp_of_nonpositive(float x) {
  // x = n log 2 + r, with n the nearest whole number: adding 1.5 * 2^23 leaves it in the last bits of the sum. log 2 is
  // split in two, so that n times its first part is exact.
  constexpr float kRounder = 12582912.0F, kLog2High = 0.693359375F, kLog2Low = -2.12194440e-4F;
  // At least -104, of which the exponential is 0 too: of negative floats, the smaller one has the greater bits.
  constexpr auto kLeast = std::bit_cast<std::uint32_t>(-104.0F);
  const float bounded = std::bit_cast<float>(std::min(std::bit_cast<std::uint32_t>(x), kLeast));
  const float shifted = bounded * 1.44269504F + kRounder;
  const float n = shifted - kRounder;
  const float r = (bounded - n * kLog2High) - n * kLog2Low;
  // Taylor's series; |r| <= 0.35, so that the next term is below 6e-9 of the sum.
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder);
  return sum * std::bit_cast<float>(std::max(exponent + 127, 0) << 23);
}

/// The sum, in a fixed order.
double sum_of(std::span<const float> numbers);

/// Writes e^(logits[i] - greatest) to the weights, of which there are as many, and returns their sum.
double exponentials(std::span<const float> logits, float greatest, std::span<float> weights);

}  // namespace alate::generation
