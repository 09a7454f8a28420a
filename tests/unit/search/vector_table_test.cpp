// Search over vectors: which rows, in which order, with which scores.
#include "search/vector_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "base/threads/cancellation.h"
#include "base/threads/thread_pool.h"

namespace alate::search {
namespace {

const base::Cancellation kNever = base::Cancellation::never();

std::vector<RowScore> nearest_of(const std::vector<float>& scores, std::size_t count, std::size_t threads) {
  base::ThreadPool pool(threads);
  const auto score = [&](std::size_t begin, std::span<float> out) {
    std::ranges::copy(std::span(scores).subspan(begin, out.size()), out.begin());
  };
  return nearest_rows(scores.size(), count, score, pool, kNever);
}

TEST(NearestRows, AreTheBestFirstAndEqualOnesInTheirOrder) {
  const std::vector<RowScore> found = nearest_of({1, 3, 2, 3, 0, 3}, 4, 1);
  EXPECT_EQ(found, (std::vector<RowScore>{{1, 3}, {3, 3}, {5, 3}, {2, 2}}));
}

TEST(NearestRows, NaNIsLowerThanAnyNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::size_t> rows;
  for (const RowScore& row : nearest_of({nan, -5, nan, 7}, 4, 1)) rows.push_back(row.row);
  EXPECT_EQ(rows, (std::vector<std::size_t>{3, 1, 0, 2}));
}

TEST(NearestRows, CountsOfAllKinds) {
  EXPECT_TRUE(nearest_of({1, 2}, 0, 1).empty());
  EXPECT_TRUE(nearest_of({}, 3, 2).empty());
  EXPECT_EQ(nearest_of({1, 2}, std::numeric_limits<std::size_t>::max(), 2).size(), 2U);
}

TEST(NearestRows, DoNotDependOnTheNumberOfThreads) {
  std::minstd_rand generator(5);
  std::vector<float> scores(50000);
  for (float& score : scores) score = static_cast<float>(generator() % 1000);  // many are equal
  std::vector<RowScore> wanted;
  for (std::size_t i = 0; i < scores.size(); ++i) wanted.push_back({i, scores[i]});
  std::ranges::stable_sort(wanted, std::ranges::greater(), &RowScore::score);
  for (const std::size_t count : {1, 10, 777, 50000}) {
    for (const std::size_t threads : {1, 2, 3})
      EXPECT_EQ(nearest_of(scores, count, threads),
                std::vector(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count)));
  }
}

TEST(NearestRows, EndWhenNobodyWaits) {
  base::ThreadPool pool(1);
  const auto left = [] { return true; };
  const auto score = [](std::size_t, std::span<float> out) { std::ranges::fill(out, 0.0F); };
  EXPECT_ANY_THROW(nearest_rows(10000, 1, score, pool, base::Cancellation::when(left)));
}

TEST(RoundToBytes, TakesTheLargestNumberFor127) {
  std::vector<std::int8_t> bytes(4);
  EXPECT_FLOAT_EQ(round_to_bytes(std::vector<float>{0.5F, -1.0F, 0.0F, 0.003F}, bytes), 1.0F / 127);
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{64, -127, 0, 0}));  // 63.5 to the even number
  EXPECT_EQ(round_to_bytes(std::vector<float>{0, 0, 0, 0}, bytes), 0);
  EXPECT_EQ(round_to_bytes(std::vector<float>{1, std::nanf(""), 1, 1}, bytes), 0);
  EXPECT_EQ(bytes, std::vector<std::int8_t>(4));
}

TEST(TakeSigns, FillsWordsFromTheLowestBit) {
  std::vector<float> vector(65, -1);
  vector[0] = vector[9] = vector[64] = 1;
  vector[1] = 0;
  std::vector<std::uint8_t> bits(bit_row_bytes(65), 0xFF);
  take_signs(vector, bits);
  std::vector<std::uint8_t> wanted(16);
  wanted[0] = 1;
  wanted[1] = 2;
  wanted[8] = 1;
  EXPECT_EQ(bits, wanted);
}

constexpr std::size_t kRows = 9000;  // several blocks

// Random rows of length 1, as they are and in fewer bits.
struct RandomRows {
  explicit RandomRows(std::size_t row_width) : width(row_width), floats(kRows * width), bytes(kRows * width) {
    std::mt19937 generator(11);
    std::normal_distribution<float> normal;
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::span<float> values = std::span(floats).subspan(row * width, width);
      double squares = 0;
      for (float& value : values) {
        value = normal(generator);
        squares += double{value} * double{value};
      }
      for (float& value : values) value /= static_cast<float>(std::sqrt(squares));
    }
    bits.resize(kRows * bit_row_bytes(width));
    for (std::size_t row = 0; row < kRows; ++row) {
      scales.push_back(round_to_bytes(row_of(row), std::span(bytes).subspan(row * width, width)));
      take_signs(row_of(row), std::span(bits).subspan(row * bit_row_bytes(width), bit_row_bytes(width)));
    }
  }
  std::span<const float> row_of(std::size_t row) const { return std::span(floats).subspan(row * width, width); }

  std::size_t width;
  std::vector<float> floats, scales = {};
  std::vector<std::int8_t> bytes;
  std::vector<std::uint8_t> bits = {};
};

// Made once for all tests.
const RandomRows& random_rows(std::size_t width) {
  static std::map<std::size_t, RandomRows> made;
  return made.try_emplace(width, width).first->second;
}

// Random vectors of length 1, in all precisions.
class Table : public testing::TestWithParam<std::size_t> {
 protected:
  std::span<const float> row_of(std::size_t row) const { return rows_.row_of(row); }
  VectorTable table(Precision precision) const {
    return {.precision = precision,
            .rows = kRows,
            .dimensions = width_,
            .floats = rows_.floats,
            .bytes = rows_.bytes,
            .scales = rows_.scales,
            .bits = rows_.bits};
  }
  std::vector<RowScore> nearest(Precision precision, std::span<const float> question, std::size_t count,
                                std::size_t threads = 1) {
    base::ThreadPool pool(threads);
    return nearest_vectors(table(precision), question, count, pool, kNever);
  }

  const std::size_t width_ = GetParam();
  const RandomRows& rows_ = random_rows(width_);
};

TEST_P(Table, ScoresAreDotProducts) {
  const std::span<const float> question = row_of(4321);
  for (const Precision precision : {Precision::float32, Precision::int8, Precision::binary}) {
    const std::vector<RowScore> found = nearest(precision, question, 50);
    ASSERT_EQ(found.size(), 50U);
    EXPECT_EQ(found.front().row, 4321U);
    for (const RowScore& row : found) {
      double sum = 0, of_bytes = 0;
      for (std::size_t i = 0; i < width_; ++i) {
        sum += double{question[i]} * double{row_of(row.row)[i]};
        of_bytes += double{question[i]} * double{rows_.scales[row.row]} * rows_.bytes[row.row * width_ + i];
      }
      // Of bytes, the dot product with the rounded row; the question's own rounding is not seen.
      EXPECT_NEAR(row.score, precision == Precision::float32 ? sum : of_bytes, 3e-5);
      EXPECT_NEAR(row.score, sum, 0.01);
    }
  }
}

TEST_P(Table, OfBytesFindsTheRowsOfFloats) {
  std::size_t of_bytes = 0, of_bits = 0;
  for (std::size_t asked = 0; asked < 20; ++asked) {
    const auto rows_of = [&](Precision precision) {
      std::vector<std::size_t> rows;
      for (const RowScore& row : nearest(precision, row_of(asked * 400), 10)) rows.push_back(row.row);
      return rows;
    };
    const std::vector<std::size_t> wanted = rows_of(Precision::float32);
    const auto common = [&](Precision precision) {
      return static_cast<std::size_t>(std::ranges::count_if(
          rows_of(precision), [&](std::size_t row) { return std::ranges::find(wanted, row) != wanted.end(); }));
    };
    of_bytes += common(Precision::int8);
    of_bits += common(Precision::binary);
  }
  EXPECT_GE(of_bytes, 193U);  // of 200
  EXPECT_GE(of_bits, 90U);    // random vectors are hard: all are equally far from each other
}

TEST_P(Table, DoesNotDependOnTheNumberOfThreads) {
  for (const Precision precision : {Precision::float32, Precision::int8, Precision::binary}) {
    for (const std::size_t count : {1, 10, 9000}) {
      const auto wanted = nearest(precision, row_of(7), count);
      EXPECT_EQ(nearest(precision, row_of(7), count, 2), wanted);
      EXPECT_EQ(nearest(precision, row_of(7), count, 3), wanted);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Table, testing::Values(100, 384));

}  // namespace
}  // namespace alate::search
