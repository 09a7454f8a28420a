// The vectors of an index in the number of bits that it stores, and exact search over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/embedding_precision.h"
#include "base/threads/cancellation.h"
#include "base/threads/thread_pool.h"
#include "search/nearest_rows.h"

namespace alate::search {

/// Vectors, row after row. float32 has `floats` [rows, dimensions]. int8 has `bytes` [rows, dimensions] and `scales`
/// [rows]: number j of a row is bytes[j] · its scale. binary has these, and `bits` [rows, bit_row_bytes(dimensions)].
/// Nothing is owned.
struct VectorTable {
  Precision precision = Precision::float32;
  std::size_t rows = 0, dimensions = 0;
  std::span<const float> floats = {};
  std::span<const std::int8_t> bytes = {};
  std::span<const float> scales = {};
  std::span<const std::uint8_t> bits = {};
};

/// A row of bits: whole words of 64, those past the last number 0.
constexpr std::size_t bit_row_bytes(std::size_t dimensions) { return (dimensions + 63) / 64 * 8; }

/// Rounds a vector to bytes, the largest number to ±127, and returns the scale (a scale of its own finds more than the
/// range -1 to 1 for all vectors: docs/search.md); 0 where all numbers are 0 or one is not
/// finite, with bytes 0. REQUIRES: bytes.size() == vector.size().
float round_to_bytes(std::span<const float> vector, std::span<std::int8_t> bytes);

/// Sets bit j % 64 of word j / 64, little endian, for each number above 0. REQUIRES: bits.size() ==
/// bit_row_bytes(vector.size()).
void take_signs(std::span<const float> vector, std::span<std::uint8_t> bits);

/// How many rows a search in bits reads again in bytes, for each that is asked for, and the least.
inline constexpr std::size_t kRescoreFactor = 50, kLeastRescored = 500;

/// The `count` rows with the largest dot products with the question, in the order of is_nearer. Of float32 and int8,
/// all rows are compared; of binary, the kRescoreFactor · count rows whose signs differ least from the question's, by
/// their bytes. The scores are the same on any number of threads. REQUIRES: question.size() == table.dimensions.
std::vector<RowScore> nearest_vectors(const VectorTable& table, std::span<const float> question, std::size_t count,
                                      base::ThreadPool& pool, const base::Cancellation& cancellation);

}  // namespace alate::search
