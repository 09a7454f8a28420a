#include "search/vector_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/rows/byte_rows.h"
#include "backends/cpu/kernels/rows/row_products.h"

namespace alate::search {
namespace {

// Scores are made in parts of so many integers.
constexpr std::size_t kPartRows = 512;

// The largest magnitude, or 0 if a number is not finite.
float magnitude_of(std::span<const float> vector) {
  float most = 0;
  for (const float value : vector) {
    if (!std::isfinite(value)) return 0;
    most = std::max(most, std::abs(value));
  }
  return most;
}

// A question in 16 bits: of rows in 8 its rounding is not seen.
class ShortQuestion {
 public:
  explicit ShortQuestion(std::span<const float> question) : values_(question.size()) {
    const float most = magnitude_of(question);
    const auto largest = static_cast<float>(cpu::largest_byte_row_factor(question.size()));
    if (!(most > 0) || !(largest > 0)) return;
    scale_ = most / largest;
    if (!(scale_ > 0)) return;  // of the smallest numbers
    for (std::size_t i = 0; i < question.size(); ++i)
      values_[i] = static_cast<std::int16_t>(std::clamp(std::nearbyint(question[i] / scale_), -largest, largest));
  }

  void score(const VectorTable& table, std::size_t begin, std::span<float> scores) const {
    std::array<std::int32_t, kPartRows> sums;
    for (std::size_t at = 0; at < scores.size(); at += kPartRows) {
      const std::size_t rows = std::min(kPartRows, scores.size() - at), first = begin + at;
      cpu::dot_byte_rows({.m = table.bytes.data() + first * table.dimensions,
                          .m_stride = table.dimensions,
                          .x = values_.data(),
                          .out = sums.data(),
                          .rows = rows,
                          .width = table.dimensions});
      for (std::size_t i = 0; i < rows; ++i)
        scores[at + i] = static_cast<float>(sums[i]) * (table.scales[first + i] * scale_);
    }
  }

 private:
  std::vector<std::int16_t> values_;
  float scale_ = 0;
};

std::vector<RowScore> nearest_by_signs(const VectorTable& table, std::span<const float> question, std::size_t count,
                                       base::ThreadPool& pool, const base::Cancellation& cancellation) {
  const std::size_t row_bytes = bit_row_bytes(table.dimensions), words = row_bytes / sizeof(std::uint64_t);
  std::vector<std::uint8_t> signs(row_bytes);
  take_signs(question, signs);
  std::vector<std::uint64_t> asked(words);
  std::memcpy(asked.data(), signs.data(), row_bytes);
  const auto score = [&](std::size_t begin, std::span<float> scores) {
    std::array<std::uint32_t, kPartRows> counts;
    for (std::size_t at = 0; at < scores.size(); at += kPartRows) {
      const std::size_t rows = std::min(kPartRows, scores.size() - at);
      cpu::bit_differences(table.bits.data() + (begin + at) * row_bytes, asked.data(), words, rows, counts.data());
      for (std::size_t i = 0; i < rows; ++i) scores[at + i] = -static_cast<float>(counts[i]);
    }
  };
  return nearest_rows(table.rows, count, score, pool, cancellation);
}

}  // namespace

float round_to_bytes(std::span<const float> vector, std::span<std::int8_t> bytes) {
  const float scale = magnitude_of(vector) / 127;
  std::ranges::fill(bytes, std::int8_t{0});
  if (!(scale > 0)) return 0;
  for (std::size_t i = 0; i < vector.size(); ++i)
    bytes[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(vector[i] / scale), -127.0F, 127.0F));
  return scale;
}

void take_signs(std::span<const float> vector, std::span<std::uint8_t> bits) {
  std::ranges::fill(bits, std::uint8_t{0});
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (vector[i] > 0) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
  }
}

std::vector<RowScore> nearest_vectors(const VectorTable& table, std::span<const float> question, std::size_t count,
                                      base::ThreadPool& pool, const base::Cancellation& cancellation) {
  if (table.precision == Precision::float32) {
    const auto score = [&](std::size_t begin, std::span<float> scores) {
      cpu::dot_rows({.m = table.floats.data() + begin * table.dimensions,
                     .m_stride = table.dimensions,
                     .x = question.data(),
                     .out = scores.data(),
                     .rows = scores.size(),
                     .width = table.dimensions},
                    pool, 1);
    };
    return nearest_rows(table.rows, count, score, pool, cancellation);
  }
  const ShortQuestion asked(question);
  if (table.precision == Precision::int8) {
    const auto score = [&](std::size_t begin, std::span<float> scores) { asked.score(table, begin, scores); };
    return nearest_rows(table.rows, count, score, pool, cancellation);
  }
  const std::size_t most = count > table.rows / kRescoreFactor ? table.rows : count * kRescoreFactor;
  BestRows best(std::min(count, table.rows));
  for (const RowScore& candidate :
       nearest_by_signs(table, question, std::max(most, kLeastRescored), pool, cancellation)) {
    float score = 0;
    asked.score(table, candidate.row, std::span(&score, 1));
    best.offer({.row = candidate.row, .score = score});
  }
  return best.take();
}

}  // namespace alate::search
