// Element-wise kernels of every type: each instruction set's against the baseline's, and the baseline's against plain
// arithmetic. What the ops mean is tested by the conformance suite.
#include "backends/cpu/kernels/elementwise/tile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/packed.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

class Tiles : public EveryInstructionSet {};

constexpr std::size_t kMaxLength = 131;

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::minstd_rand generator(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() >> 8U);
  return bytes;
}

// Of a function whose result has as many bytes as an element, or fewer.
std::vector<std::byte> apply(const TileKernel& kernel, DType dtype, TileOp op, std::size_t n) {
  const std::size_t bytes = bytes_for(dtype, 1);
  std::vector<std::vector<std::byte>> operands;
  for (unsigned i = 0; i < 3; ++i) {
    operands.push_back(random_bytes(kMaxLength * bytes, 7 * i + 1));
    for (std::byte& byte : operands.back()) {
      if (dtype == DType::boolean || (op == TileOp::select && i == 0)) byte &= std::byte{1};
    }
  }
  const void* pointers[3] = {operands[0].data(), operands[1].data(), operands[2].data()};
  std::vector<std::byte> out(kMaxLength * 2 * bytes, std::byte{0x77});
  kernel(pointers, out.data(), n);
  return out;
}

bool is_nan(DType dtype, const std::byte* element) {
  if (dtype == DType::f32) return std::isnan(*reinterpret_cast<const float*>(element));
  return dtype == DType::f64 && std::isnan(*reinterpret_cast<const double*>(element));
}

// Functions that the sets compute by formulas of their own: with and without fused multiply-add.
bool has_own_formula(TileOp op, DType dtype) {
  if (dtype != DType::f32) return false;
  switch (op) {
    case TileOp::exp:
    case TileOp::expm1:
    case TileOp::log:
    case TileOp::log1p:
    case TileOp::logistic:
    case TileOp::tanh:
    case TileOp::erf:
    case TileOp::gelu_erf:
    case TileOp::gelu_tanh:
    case TileOp::silu: return true;
    default: return false;
  }
}

TEST_P(Tiles, GiveTheBaselinesBitsForEveryOpAndType) {
  const Kernels& baseline = kernels_for(base::InstructionSet::scalar);
  std::size_t compared = 0;
  for (int number = 0; number <= static_cast<int>(TileOp::clamp); ++number) {
    const auto op = static_cast<TileOp>(number);
    for (const DType dtype : all_dtypes()) {
      const TileKernel kernel = tile_kernel(op, dtype, set()), wanted = tile_kernel(op, dtype, baseline);
      ASSERT_EQ(static_cast<bool>(kernel), static_cast<bool>(wanted)) << number << " of " << to_string(dtype);
      if (!kernel || has_own_formula(op, dtype)) continue;
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{64}, kMaxLength}) {
        const std::vector<std::byte> found = apply(kernel, dtype, op, n), expected = apply(wanted, dtype, op, n);
        const std::size_t bytes = bytes_for(dtype, 1);
        for (std::size_t i = 0; i < found.size(); i += bytes) {
          // Which of NaN's bits come out is not said.
          if (is_nan(dtype, found.data() + i) && is_nan(dtype, expected.data() + i)) continue;
          ASSERT_EQ(std::memcmp(found.data() + i, expected.data() + i, bytes), 0)
              << "op " << number << " of " << to_string(dtype) << " byte " << i << " of " << n;
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000U);
}

template <typename T, typename R>
std::vector<R> computed(TileOp op, DType dtype, const Kernels& set, const std::vector<T>& x, const std::vector<T>& y) {
  const void* operands[3] = {x.data(), y.data(), nullptr};
  std::vector<R> out(x.size());
  tile_kernel(op, dtype, set)(operands, out.data(), x.size());
  return out;
}

TEST_P(Tiles, DefineWhatProcessorsLeaveOpen) {
  using Ints = std::vector<std::int32_t>;
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  const auto i32 = [&](TileOp op, const Ints& x, const Ints& y) {
    return computed<std::int32_t, std::int32_t>(op, DType::i32, set(), x, y);
  };
  EXPECT_EQ(i32(TileOp::divide, {7, -7, kLowest, 5}, {2, 2, -1, 0}), (Ints{3, -3, kLowest, -1}));
  EXPECT_EQ(i32(TileOp::remainder, {7, -7, kLowest, 5}, {4, 4, -1, 0}), (Ints{3, -3, 0, 5}));
  EXPECT_EQ(i32(TileOp::shift_left, {1, 1, 1, 1}, {31, 32, -1, 0}), (Ints{kLowest, 0, 0, 1}));
  EXPECT_EQ(i32(TileOp::shift_right_arithmetic, {-8, -8, 8}, {1, 40, 40}), (Ints{-4, -1, 0}));
  EXPECT_EQ(i32(TileOp::shift_right_logical, {-1, -1}, {28, 32}), (Ints{15, 0}));
  EXPECT_EQ(i32(TileOp::power, {3, -1, 1, 2, 0}, {4, -3, -2, -1, 0}), (Ints{81, -1, 1, 0, 1}));
  EXPECT_EQ(i32(TileOp::abs, {kLowest, -3}, {0, 0}), (Ints{kLowest, 3}));
}

TEST_P(Tiles, OrderZerosAndLetNanThrough) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f, -0.0f, nan, 1.0f}, y = {-0.0f, 0.0f, 1.0f, nan};
  const auto larger = computed<float, float>(TileOp::maximum, DType::f32, set(), x, y);
  const auto smaller = computed<float, float>(TileOp::minimum, DType::f32, set(), x, y);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(std::signbit(larger[i]));
    EXPECT_TRUE(std::signbit(smaller[i]));
    EXPECT_TRUE(std::isnan(larger[i + 2]) && std::isnan(smaller[i + 2]));
  }
  const auto less = computed<float, std::uint8_t>(TileOp::less_total_order, DType::f32, set(), x, y);
  EXPECT_EQ(less, (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

INSTANTIATE_TEST_SUITE_P(Sets, Tiles, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

TEST(TileConversion, SaturatesAndTruncates) {
  const std::vector<float> from = {1.9f, -1.9f, 300, -300, std::numeric_limits<float>::quiet_NaN(), 1e20f};
  const void* operand = from.data();
  std::vector<std::int8_t> bytes(from.size());
  tile_conversion(DType::f32, DType::i8)(&operand, bytes.data(), from.size());
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{1, -1, 127, -128, 0, 127}));
  std::vector<std::uint64_t> words(from.size());
  tile_conversion(DType::f32, DType::u64)(&operand, words.data(), from.size());
  EXPECT_EQ(words, (std::vector<std::uint64_t>{1, 0, 300, 0, 0, std::numeric_limits<std::uint64_t>::max()}));
  std::vector<std::int8_t> carriers(from.size());
  tile_conversion(DType::f32, DType::i4)(&operand, carriers.data(), from.size());
  EXPECT_EQ(carriers, (std::vector<std::int8_t>{1, -1, 7, -8, 0, 7}));
}

TEST(TileConversion, RoundsLargeIntegersOnce) {
  // 2^54 + 2^46 + 1 is just above the middle of two bf16; as a double it would lose the 1 and round down.
  const std::vector<std::int64_t> from = {(std::int64_t{1} << 54) + (std::int64_t{1} << 46) + 1};
  const void* operand = from.data();
  std::uint16_t half = 0;
  tile_conversion(DType::i64, DType::bf16)(&operand, &half, 1);
  EXPECT_EQ(half, 0x5a81);
}

}  // namespace
}  // namespace alate::cpu::kernel_testing
