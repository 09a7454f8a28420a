// Sorts, largest values, running sums and places of extremes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "backends/cpu/kernels/moving/sort.h"
#include "backends/cpu/kernels/rows/cumulative.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu::kernel_testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

class OrderKernels : public ::testing::Test {
 protected:
  // Sorted keys and the places they came from, of [outer, length, inner].
  template <typename T>
  std::pair<std::vector<T>, std::vector<std::int64_t>> sorted(const KeyOrder& order, const std::vector<T>& keys,
                                                              std::size_t outer, std::size_t length,
                                                              std::size_t inner) {
    std::vector<T> values(keys.size());
    std::vector<std::int64_t> numbers(keys.size()), places(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) numbers[i] = static_cast<std::int64_t>(i / inner % length);
    const SortOperand operands[] = {{keys.data(), values.data(), sizeof(T)}, {numbers.data(), places.data(), 8}};
    std::vector<std::byte> scratch(sort_scratch_bytes(order.dtype, length) * pool_.size());
    sort_lines({order, keys.data(), operands, outer, length, inner, scratch.data()}, pool_, 2);
    return {values, places};
  }

  // What the merge sort of the reference gives with the comparison as it is.
  template <typename T, typename ComesBefore>
  void check_sort(const KeyOrder& order, const std::vector<T>& keys, std::size_t outer, std::size_t length,
                  std::size_t inner, const ComesBefore& comes_before) {
    const auto [values, places] = sorted(order, keys, outer, length, inner);
    for (std::size_t line = 0; line < outer * inner; ++line) {
      const std::size_t first = line / inner * length * inner + line % inner;
      std::vector<std::size_t> expected(length), merged(length);
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      merge_sort(std::span(expected), std::span(merged), [&](std::size_t a, std::size_t b) {
        return comes_before(keys[first + a * inner], keys[first + b * inner]);
      });
      for (std::size_t i = 0; i < length; ++i) {
        ASSERT_EQ(places[first + i * inner], static_cast<std::int64_t>(expected[i])) << "line " << line << " at " << i;
        ASSERT_EQ(0, std::memcmp(&values[first + i * inner], &keys[first + expected[i] * inner], sizeof(T)));
      }
    }
  }

  std::vector<float> floats(std::size_t count, bool with_nan) {
    std::vector<float> values(count);
    const float special[] = {0.0f, -0.0f, kInfinity, -kInfinity, with_nan ? kNan : 1.0f, with_nan ? -kNan : 1.0f};
    for (float& value : values) {
      const auto draw = static_cast<unsigned>(random_());
      value = draw % 5 == 0 ? special[draw / 5 % 6] : static_cast<float>(static_cast<int>(draw % 401) - 200) / 8;
    }
    return values;
  }

  std::minstd_rand random_{3};
  base::ThreadPool pool_{2};
};

TEST_F(OrderKernels, SortsAsMergingDoes) {
  for (const std::size_t length : {0u, 1u, 2u, 7u, 300u, 1000u, 9000u}) {
    for (const std::size_t inner : {1u, 3u}) {
      const std::size_t outer = length > 5000 ? 1 : 4;
      for (const bool with_nan : {false, true}) {
        const std::vector<float> keys = floats(outer * length * inner, with_nan);
        check_sort({}, keys, outer, length, inner, std::less<>());
        check_sort({.descending = true}, keys, outer, length, inner, std::greater<>());
        check_sort({.or_equal = true}, keys, outer, length, inner, std::less_equal<>());
        check_sort({.descending = true, .or_equal = true}, keys, outer, length, inner, std::greater_equal<>());
        check_sort({.is_total = true}, keys, outer, length, inner, [](float a, float b) {
          const auto rank = [](float x) {
            const auto bits = std::bit_cast<std::int32_t>(x);
            return bits < 0 ? std::int64_t{INT32_MIN} - bits - 1 : std::int64_t{bits};
          };
          return rank(a) < rank(b);
        });
      }
    }
  }
}

template <typename T>
std::vector<T> numbers(std::size_t count, std::minstd_rand& random) {
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = std::uint64_t{random()} << 40 ^ std::uint64_t{random()} << 20 ^ random();
    value = static_cast<T>(bits);
  }
  if (count > 3) {
    values[1] = std::numeric_limits<T>::max();
    values[2] = std::numeric_limits<T>::lowest();
  }
  return values;
}

TEST_F(OrderKernels, SortsIntegersAndDoubles) {
  for (const std::size_t length : {5u, 2000u}) {
    check_sort({.dtype = DType::i8}, numbers<std::int8_t>(length * 2, random_), 2, length, 1, std::less<>());
    check_sort({.dtype = DType::u16}, numbers<std::uint16_t>(length * 2, random_), 2, length, 1, std::less<>());
    check_sort({.dtype = DType::i32}, numbers<std::int32_t>(length * 2, random_), 2, length, 1, std::less<>());
    check_sort({.dtype = DType::u32, .descending = true}, numbers<std::uint32_t>(length, random_), 1, length, 1,
               std::greater<>());
    check_sort({.dtype = DType::i64}, numbers<std::int64_t>(length * 2, random_), 2, length, 1, std::less<>());
    check_sort({.dtype = DType::u64, .descending = true}, numbers<std::uint64_t>(length * 2, random_), 2, length, 1,
               std::greater<>());
    std::vector<double> doubles = {0.5, -0.0, 0.0, -1e300, std::numeric_limits<double>::infinity(), 1e-300};
    for (std::size_t i = 6; i < length; ++i) doubles.push_back(std::sin(static_cast<double>(i)));
    check_sort({.dtype = DType::f64}, doubles, 1, doubles.size(), 1, std::less<>());
    doubles[0] = std::numeric_limits<double>::quiet_NaN();
    check_sort({.dtype = DType::f64}, doubles, 1, doubles.size(), 1, std::less<>());
  }
}

TEST_F(OrderKernels, TopKIsTheStartOfAStableSortByTotalOrder) {
  for (const std::size_t length : {1u, 6u, 1000u}) {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, length / 2, length}) {
      constexpr std::size_t kRows = 33;
      const std::vector<float> x = floats(kRows * length, true);
      const auto [all, all_places] = sorted({.descending = true, .is_total = true}, x, kRows, length, 1);
      std::vector<float> values(kRows * k + 1);
      std::vector<std::int32_t> places(kRows * k + 1);
      std::vector<std::byte> scratch(top_k_scratch_bytes(DType::f32, k) * pool_.size());
      top_k({DType::f32, x.data(), values.data(), places.data(), kRows, length, k, scratch.data()}, pool_, 2);
      for (std::size_t i = 0; i < kRows * k; ++i) {
        const std::size_t at = i / k * length + i % k;
        EXPECT_EQ(places[i], all_places[at]);
        EXPECT_EQ(0, std::memcmp(&values[i], &all[at], sizeof(float)));
      }
    }
  }
}

TEST_F(OrderKernels, RunsSumsAlongAnyAxisAndDirection) {
  for (const std::size_t length : {0u, 1u, 5u, 3001u}) {
    for (const std::size_t inner : {1u, 3u, 130u}) {
      std::vector<std::int32_t> x(2 * length * inner), out(x.size()), expected(x.size());
      for (std::int32_t& value : x) value = static_cast<std::int32_t>(random_() * 3u);
      for (int flags = 0; flags < 4; ++flags) {
        const bool reverse = (flags & 1) != 0, exclusive = (flags & 2) != 0;
        for (std::size_t line = 0; line < 2 * inner; ++line) {
          std::uint32_t sum = 0;
          for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = (line / inner * length + (reverse ? length - 1 - i : i)) * inner + line % inner;
            const std::uint32_t before = sum;
            sum += static_cast<std::uint32_t>(x[at]);
            expected[at] = static_cast<std::int32_t>(exclusive ? before : sum);
          }
        }
        cumulative(CumulativeOp::sum, DType::i32,
                   {x.data(), out.data(), 2, length, inner, reverse, exclusive, DType::i32}, pool_, 2);
        EXPECT_EQ(out, expected);
      }
    }
  }
}

TEST_F(OrderKernels, RunningExtremesKeepNanAndBeginAtTheLimits) {
  const std::vector<float> x = {-0.0f, 0.0f, -1, kNan, 5};
  std::vector<float> out(5);
  cumulative(CumulativeOp::max, DType::f32, {x.data(), out.data(), 1, 5, 1, false, false, DType::f32}, pool_, 1);
  EXPECT_TRUE(std::signbit(out[0]));
  EXPECT_FALSE(std::signbit(out[1]));
  EXPECT_EQ(out[2], 0);
  EXPECT_TRUE(std::isnan(out[3]) && std::isnan(out[4]));
  cumulative(CumulativeOp::min, DType::f32, {x.data(), out.data(), 1, 3, 1, false, true, DType::f32}, pool_, 1);
  EXPECT_EQ(out[0], kInfinity);
  EXPECT_TRUE(std::signbit(out[2]));
  // The limits of a type of four bits in the byte that carries it.
  const std::int8_t four = 3;
  std::int8_t limit = 0;
  cumulative(CumulativeOp::max, DType::i8, {&four, &limit, 1, 1, 1, false, true, DType::i4}, pool_, 1);
  EXPECT_EQ(limit, -8);
  cumulative(CumulativeOp::min, DType::i8, {&four, &limit, 1, 1, 1, false, true, DType::i4}, pool_, 1);
  EXPECT_EQ(limit, 7);
}

TEST_F(OrderKernels, FindsTheFirstExtremeOrNan) {
  for (const std::size_t inner : {1u, 2u, 100u}) {
    // Each column is the same line.
    const auto place = [&](const std::vector<float>& line, bool is_min) {
      std::vector<float> x;
      for (const float value : line) x.insert(x.end(), inner, value);
      std::vector<std::int16_t> places(inner, 99);
      arg_extreme(DType::f32, {x.data(), places.data(), 1, line.size(), inner, 2, is_min}, pool_, 2);
      EXPECT_EQ(std::count(places.begin(), places.end(), places[0]), static_cast<std::ptrdiff_t>(inner));
      return places[0];
    };
    EXPECT_EQ(place({}, false), 0);
    EXPECT_EQ(place({3}, false), 0);
    EXPECT_EQ(place({1, 4, 4, 2}, false), 1);
    EXPECT_EQ(place({4, 1, 2, 1}, true), 1);
    EXPECT_EQ(place({-0.0f, 0.0f}, false), 0);
    EXPECT_EQ(place({1, kNan, 9, kNan}, false), 1);
    EXPECT_EQ(place({1, kNan, -9}, true), 1);
    EXPECT_EQ(place({-kInfinity, -kInfinity}, false), 0);
  }
}

TEST_F(OrderKernels, FindsExtremesOfLongLines) {
  for (const std::size_t length : {63u, 64u, 1000u, 70011u}) {
    for (const std::size_t inner : {1u, 5u, 70u}) {
      if (inner * length > 1000000) continue;
      const std::vector<float> x = floats(2 * length * inner, length == 1000);
      std::vector<std::int64_t> places(2 * inner), expected(2 * inner);
      for (const bool is_min : {false, true}) {
        for (std::size_t line = 0; line < 2 * inner; ++line) {
          const auto value = [&](std::size_t i) { return x[(line / inner * length + i) * inner + line % inner]; };
          std::size_t best = 0;
          for (std::size_t i = 1; i < length; ++i) {
            const bool is_better = is_min ? value(i) < value(best) : value(best) < value(i);
            if (!std::isnan(value(best)) && (std::isnan(value(i)) || is_better)) best = i;
          }
          expected[line] = static_cast<std::int64_t>(best);
        }
        arg_extreme(DType::f32, {x.data(), places.data(), 2, length, inner, 8, is_min}, pool_, 2);
        EXPECT_EQ(places, expected);
      }
    }
  }
  std::vector<std::uint8_t> bytes(40000, 7);
  bytes[39998] = bytes[39999] = 8;
  std::int32_t place = 0;
  arg_extreme(DType::u8, {bytes.data(), &place, 1, bytes.size(), 1, 4, false}, pool_, 2);
  EXPECT_EQ(place, 39998);
}

}  // namespace
}  // namespace alate::cpu::kernel_testing
