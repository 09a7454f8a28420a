// The arithmetic of quantize_embeddings on single vectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alate/embedding_precision.h"

namespace alate::pipelines {

/// The range of all numbers where none are given for each.
inline constexpr float kLowest = -1, kHighest = 1;

/// The step of a range that `x` is in: 0 to 255, rounded down, in float32 arithmetic throughout.
std::uint8_t step_of(float x, float lowest, float highest);

/// Sets a bit for each number above 0, the first in the highest bit of a byte. REQUIRES: bits.size() is
/// (vector.size() + 7) / 8.
void pack_signs(std::span<const float> vector, std::span<std::uint8_t> bits);

/// The integers that quantize_embeddings makes of a vector without ranges. REQUIRES: not float32.
std::vector<int> quantized_numbers(std::span<const float> vector, Precision precision);

}  // namespace alate::pipelines
