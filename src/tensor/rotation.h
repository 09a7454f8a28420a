// The Walsh-Hadamard transform, which spreads what single numbers have over their neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// Numbers that are rotated together where inputs of products are rounded to 8 bits: what is far from the others in
/// them is spread over so many, and widths of models are multiples of it.
constexpr std::size_t kRotation = 128;

/// kRotation where it divides a layer's inputs, of which there are `channels`; else 0: they stay as they are.
constexpr std::int64_t rotation_of(std::int64_t channels) {
  constexpr auto kLength = static_cast<std::int64_t>(kRotation);
  return channels % kLength == 0 ? kLength : 0;
}

/// Each `length` consecutive numbers, a power of two, times the Walsh-Hadamard matrix of ones and minus ones: number i
/// becomes the sum of (-1)^popcount(i & j) times number j. Done twice, each number comes back `length` times as large.
/// `length` divides their count. Sums are made in halves, farthest numbers first: whoever adds so gets the same bits.
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

/// f32 [rows, columns] with each row rotated, times `factor`. With 1 / length, products with rotated inputs stay what
/// they were; with 1 it takes that back.
Tensor rotated_rows(const Tensor& matrix, std::size_t length, float factor);

}  // namespace alate::tensor
