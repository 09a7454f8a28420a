// The Walsh-Hadamard transform, which spreads outliers over neighbouring elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// Number of elements rotated together before the inputs of matrix products are quantized to 8 bits: outliers are
/// spread over this many elements, and model widths are multiples of it.
constexpr std::size_t kRotation = 128;

/// kRotation if it divides `channels`, the number of a layer's inputs; otherwise 0, no rotation.
constexpr std::int64_t rotation_of(std::int64_t channels) {
  constexpr auto kLength = static_cast<std::int64_t>(kRotation);
  return channels % kLength == 0 ? kLength : 0;
}

/// Multiplies each `length` consecutive elements by the Walsh-Hadamard matrix of ones and minus ones: element i becomes
/// the sum of (-1)^popcount(i & j) times element j. `length` is a power of two and divides the element count. Applying
/// it twice multiplies by `length`. Sums are formed in halves, most distant elements first; the same order of additions
/// gives bit-identical results.
template <typename Float>
void rotate(std::span<Float> numbers, std::size_t length) {
  for (std::size_t distance = length / 2; distance > 0; distance /= 2) {
    for (std::size_t first = 0; first < numbers.size(); first += 2 * distance) {
      for (std::size_t i = first; i < first + distance; ++i) {
        const Float a = numbers[i], b = numbers[i + distance];
        numbers[i] = a + b;
        numbers[i + distance] = a - b;
      }
    }
  }
}

/// f32 [rows, columns] with each row rotated, times `factor`. With 1 / length, products with rotated inputs are
/// unchanged; with 1 it undoes that rotation.
Tensor rotated_rows(const Tensor& matrix, std::size_t length, float factor);

}  // namespace alate::tensor
