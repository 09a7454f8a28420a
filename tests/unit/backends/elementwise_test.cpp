#include "backends/cpu/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/backends/kernel_testing.h"

namespace alate::cpu::testing {
namespace {

class Elementwise : public EveryInstructionSet {};

// The ways in which an operand of [rows, width] can lie in memory.
template <typename T>
std::vector<BroadcastOperand<T>> layouts(const T* data, std::size_t width) {
  return {{data, width, 1}, {data, 0, 1}, {data, 1, 0}, {data, 0, 0}, {data, width + 3, 1}};
}

float computed(BinaryOp op, float a, float b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::subtract: return a - b;
    case BinaryOp::multiply: return a * b;
    case BinaryOp::divide: return a / b;
    case BinaryOp::maximum: return std::max(a, b);
    case BinaryOp::minimum: return std::min(a, b);
    case BinaryOp::power: return std::pow(a, b);
  }
  return 0;
}

TEST_P(Elementwise, CombinesOperandsOfEveryLayout) {
  constexpr std::size_t kRows = 5;
  for (const std::size_t width : {1, 3, 8, 16, 37}) {
    auto x = random_floats(kRows * (width + 3), 1, 4);
    const auto y = random_floats(kRows * (width + 3), 2, 4);
    for (float& value : x) value = std::abs(value) + 0.1f;
    for (const BinaryOp op : {BinaryOp::add, BinaryOp::subtract, BinaryOp::multiply, BinaryOp::divide,
                              BinaryOp::maximum, BinaryOp::minimum, BinaryOp::power}) {
      for (const auto& a : layouts(x.data(), width)) {
        for (const auto& b : layouts(y.data(), width)) {
          std::vector<float> out(kRows * width + 1, 77.0f);
          binary(op, a, b, out.data(), kRows, width, pool_, 2, set());
          for (std::size_t r = 0; r < kRows; ++r) {
            for (std::size_t i = 0; i < width; ++i) {
              ASSERT_EQ(out[r * width + i],
                        computed(op, a.data[r * a.row_step + i * a.step], b.data[r * b.row_step + i * b.step]));
            }
          }
          ASSERT_EQ(out.back(), 77.0f);
        }
      }
    }
  }
}

TEST_P(Elementwise, MaximumAndMinimumLetNanThrough) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, 1, nan}, y = {1, nan, nan};
  std::vector<float> out(3);
  for (const BinaryOp op : {BinaryOp::maximum, BinaryOp::minimum}) {
    binary(op, {x.data(), 3, 1}, {y.data(), 3, 1}, out.data(), 1, 3, pool_, 1, set());
    for (const float value : out) EXPECT_TRUE(std::isnan(value));
  }
}

template <typename T>
bool holds(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::equal: return a == b;
    case CompareOp::not_equal: return a != b;
    case CompareOp::less: return a < b;
    case CompareOp::less_equal: return a <= b;
    case CompareOp::greater: return a > b;
    case CompareOp::greater_equal: return a >= b;
  }
  return false;
}

template <typename T>
void check_comparisons(const std::vector<T>& x, const std::vector<T>& y, base::ThreadPool& pool, const Kernels& set) {
  constexpr std::size_t kRows = 3;
  const std::size_t width = x.size() / kRows - 3;
  for (int op = 0; op <= static_cast<int>(CompareOp::greater_equal); ++op) {
    for (const auto& a : layouts(x.data(), width)) {
      for (const auto& b : layouts(y.data(), width)) {
        std::vector<std::uint8_t> out(kRows * width);
        compare(static_cast<CompareOp>(op), a, b, out.data(), kRows, width, pool, 1, set);
        for (std::size_t r = 0; r < kRows; ++r) {
          for (std::size_t i = 0; i < width; ++i) {
            const bool want = holds(static_cast<CompareOp>(op), a.data[r * a.row_step + i * a.step],
                                    b.data[r * b.row_step + i * b.step]);
            ASSERT_EQ(out[r * width + i], want ? 1 : 0) << op;
          }
        }
      }
    }
  }
}

TEST_P(Elementwise, ComparesFloatsIntegersAndBools) {
  std::vector<float> x, y;
  std::vector<std::int32_t> i, j;
  std::vector<std::uint8_t> p, q;
  for (int n = 0; n < 66; ++n) {
    x.push_back(static_cast<float>(n % 5) - 2);
    y.push_back(static_cast<float>(n % 3) - 1);
    i.push_back(n % 5 - 2);
    j.push_back(n % 3 - 1);
    p.push_back(static_cast<std::uint8_t>(n % 2));
    q.push_back(static_cast<std::uint8_t>(n % 3 == 0 ? 1 : 0));
  }
  x[4] = y[7] = x[11] = y[11] = std::numeric_limits<float>::quiet_NaN();
  check_comparisons(x, y, pool_, set());
  check_comparisons(i, j, pool_, set());
  check_comparisons(p, q, pool_, set());
}

TEST_P(Elementwise, SelectsBitsAsTheyAre) {
  std::vector<std::uint8_t> condition, x8, y8;
  std::vector<std::uint32_t> x, y;
  for (std::uint32_t n = 0; n < 60; ++n) {
    condition.push_back(n % 3 == 0 ? static_cast<std::uint8_t>(n + 1) : std::uint8_t{0});
    x.push_back(0x7f800001u + n);  // signalling NaNs as f32
    y.push_back(n);
    x8.push_back(1);
    y8.push_back(0);
  }
  std::vector<std::uint32_t> out(40);
  select({condition.data(), 20, 1}, {x.data(), 0, 1}, {y.data(), 1, 0}, out.data(), 2, 20, pool_, 1, set());
  for (std::size_t n = 0; n < 40; ++n) EXPECT_EQ(out[n], n % 3 == 0 ? x[n % 20] : y[n / 20]);
  std::vector<std::uint8_t> out8(40);
  select({condition.data(), 20, 1}, {x8.data(), 20, 1}, {y8.data(), 20, 1}, out8.data(), 2, 20, pool_, 1, set());
  for (std::size_t n = 0; n < 40; ++n) EXPECT_EQ(out8[n], n % 3 == 0 ? 1 : 0);
}

TEST_P(Elementwise, SplitsOverThreadsWithoutChangingABit) {
  const auto x = random_floats(200003, 1, 5);
  std::vector<float> one(x.size()), two(x.size());
  unary(UnaryOp::tanh, x.data(), one.data(), x.size(), pool_, 1, set());
  unary(UnaryOp::tanh, x.data(), two.data(), x.size(), pool_, 2, set());
  EXPECT_TRUE(same_bits(one, two));
  apply_activation(Activation::gelu_erf, one.data(), one.size(), pool_, 1, set());
  apply_activation(Activation::gelu_erf, two.data(), two.size(), pool_, 2, set());
  EXPECT_TRUE(same_bits(one, two));
}

INSTANTIATE_TEST_SUITE_P(Sets, Elementwise, ::testing::ValuesIn(available_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::testing
