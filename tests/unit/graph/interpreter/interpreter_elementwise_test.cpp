#include <bit>
#include <cmath>
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor converted(const Tensor& x, DType to) { return run_op(Op::convert, {x}, Convert{to}); }
// Bit patterns as f16 or bf16.
Tensor patterns(DType dtype, std::initializer_list<std::uint16_t> bits) {
  const Tensor plain = row<std::uint16_t>(bits);
  return Tensor::borrow({dtype, plain.shape().dims}, plain.bytes().data(), std::make_shared<Tensor>(plain));
}
std::vector<std::uint16_t> bits_of_small(const Tensor& x) {
  std::vector<std::uint16_t> bits;
  for (std::size_t i = 0; i < x.byte_count(); i += 2) {
    bits.push_back(static_cast<std::uint16_t>(std::to_integer<unsigned>(x.bytes()[i]) |
                                              std::to_integer<unsigned>(x.bytes()[i + 1]) << 8));
  }
  return bits;
}

TEST(Interpreter, AddsSubtractsAndMultipliesIntegersModuloTheirWidth) {
  const Tensor x = row<std::int8_t>({127, -128, 100}), y = row<std::int8_t>({1, 1, 3});
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::add, {x, y})), (std::vector<std::int8_t>{-128, -127, 103}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::sub, {x, y})), (std::vector<std::int8_t>{126, 127, 97}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::mul, {x, y})), (std::vector<std::int8_t>{127, -128, 44}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::neg, {x})), (std::vector<std::int8_t>{-127, -128, -100}));
  EXPECT_EQ(values_of<std::int8_t>(run_op(Op::abs, {x})), (std::vector<std::int8_t>{127, -128, 100}));
}

TEST(Interpreter, Keeps64BitIntegersExact) {
  const std::uint64_t big = std::numeric_limits<std::uint64_t>::max() - 1;
  EXPECT_EQ(values_of<std::uint64_t>(run_op(Op::div, {row<std::uint64_t>({big}), row<std::uint64_t>({2})})),
            std::vector<std::uint64_t>{big / 2});
  EXPECT_EQ(values_of<bool>(run_op(Op::less, {row<std::uint64_t>({big}), row<std::uint64_t>({big + 1})})),
            std::vector<bool>{true});
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(values_of<std::int64_t>(run_op(Op::max, {row<std::int64_t>({low, 3}), row<std::int64_t>({low + 1, 2})})),
            (std::vector<std::int64_t>{low + 1, 3}));
}

TEST(Interpreter, DividesIntegersWhereMathematicsDoesNot) {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(values_of<std::int32_t>(run_op(Op::div, {row<std::int32_t>({7, low, -7}), row<std::int32_t>({0, -1, 2})})),
            (Ints{-1, low, -3}));
  EXPECT_EQ(values_of<std::uint8_t>(run_op(Op::div, {row<std::uint8_t>({7}), row<std::uint8_t>({0})})),
            std::vector<std::uint8_t>{255});
}

TEST(Interpreter, MaxAndMinPropagateNanAndOrderZeros) {
  const Tensor x = row<float>({kNan, 1, -0.0F}), y = row<float>({1, kNan, 0.0F});
  const Floats largest = values_of<float>(run_op(Op::max, {x, y})),
               smallest = values_of<float>(run_op(Op::min, {x, y}));
  EXPECT_TRUE(std::isnan(largest[0]) && std::isnan(largest[1]) && std::isnan(smallest[0]) && std::isnan(smallest[1]));
  EXPECT_FALSE(std::signbit(largest[2]));
  EXPECT_TRUE(std::signbit(smallest[2]));
}

TEST(Interpreter, SignKeepsZerosAndNan) {
  const Floats signs = values_of<float>(run_op(Op::sign, {row<float>({-3, -0.0F, 0.0F, 5, kNan})}));
  EXPECT_EQ(signs[0], -1);
  EXPECT_TRUE(signs[1] == 0 && std::signbit(signs[1]));
  EXPECT_TRUE(signs[2] == 0 && !std::signbit(signs[2]));
  EXPECT_EQ(signs[3], 1);
  EXPECT_TRUE(std::isnan(signs[4]));
  EXPECT_EQ(values_of<std::uint8_t>(run_op(Op::sign, {row<std::uint8_t>({0, 200})})),
            (std::vector<std::uint8_t>{0, 1}));
}

TEST(Interpreter, ComparisonsWithNanAreFalseButForNotEqual) {
  const Tensor x = row<float>({kNan, 1}), y = row<float>({kNan, 1});
  const std::vector<bool> second{false, true};
  EXPECT_EQ(values_of<bool>(run_op(Op::equal, {x, y})), second);
  EXPECT_EQ(values_of<bool>(run_op(Op::less_or_equal, {x, y})), second);
  EXPECT_EQ(values_of<bool>(run_op(Op::greater_or_equal, {x, y})), second);
  EXPECT_EQ(values_of<bool>(run_op(Op::not_equal, {x, y})), (std::vector<bool>{true, false}));
  EXPECT_EQ(values_of<bool>(run_op(Op::greater, {x, y})), (std::vector<bool>{false, false}));
}

TEST(Interpreter, LogicWorksOnTruthValues) {
  const Tensor x = row<bool>({false, false, true, true}), y = row<bool>({false, true, false, true});
  EXPECT_EQ(values_of<bool>(run_op(Op::logical_and, {x, y})), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(values_of<bool>(run_op(Op::logical_or, {x, y})), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(values_of<bool>(run_op(Op::logical_not, {x})), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(values_of<bool>(run_op(Op::equal, {x, y})), (std::vector<bool>{true, false, false, true}));
}

TEST(Interpreter, RoundsHalvesToEven) {
  EXPECT_EQ(values_of<float>(run_op(Op::round_nearest_even, {row<float>({0.5F, 1.5F, -2.5F, 2.6F, kInf})})),
            (Floats{0, 2, -2, 3, kInf}));
  EXPECT_EQ(values_of<float>(run_op(Op::floor, {row<float>({-1.5F, 1.5F})})), (Floats{-2, 1}));
  EXPECT_EQ(values_of<float>(run_op(Op::ceil, {row<float>({-1.5F, 1.5F})})), (Floats{-1, 2}));
}

TEST(Interpreter, ComputesFunctionsOfFloats) {
  const Tensor x = row<double>({0.25});
  const auto value = [&](Op op) { return values_of<double>(run_op(op, {x}))[0]; };
  EXPECT_DOUBLE_EQ(value(Op::exp), 1.2840254166877414);
  EXPECT_DOUBLE_EQ(value(Op::expm1), 0.2840254166877414);
  EXPECT_DOUBLE_EQ(value(Op::log), -1.3862943611198906);  // -2 ln 2
  EXPECT_DOUBLE_EQ(value(Op::log1p), 0.22314355131420976);
  EXPECT_DOUBLE_EQ(value(Op::logistic), 0.5621765008857981);
  EXPECT_DOUBLE_EQ(value(Op::tanh), 0.24491866240370913);
  EXPECT_DOUBLE_EQ(value(Op::erf), 0.27632639016823696);
  EXPECT_DOUBLE_EQ(value(Op::sqrt), 0.5);
  EXPECT_DOUBLE_EQ(value(Op::rsqrt), 2);
  EXPECT_DOUBLE_EQ(values_of<double>(run_op(Op::pow, {row<double>({2}), row<double>({10})}))[0], 1024);
}

TEST(Interpreter, RoundsSmallFloatsOnce) {
  // 2048 + 1 lies between two f16 numbers, halfway; 2050 is the even one's neighbour: ties go to 2048.
  EXPECT_EQ(bits_of_small(run_op(Op::add, {patterns(DType::f16, {0x6800}), patterns(DType::f16, {0x3c00})})),
            std::vector<std::uint16_t>{0x6800});
  // bf16: 256 + 1 = 257 lies halfway between 256 and 258.
  EXPECT_EQ(bits_of_small(run_op(Op::add, {patterns(DType::bf16, {0x4380}), patterns(DType::bf16, {0x3f80})})),
            std::vector<std::uint16_t>{0x4380});
}

TEST(Interpreter, ConvertsFloatsToIntegersTruncatingAndSaturating) {
  const Tensor x = row<float>({-1.9F, 300, -300, kNan, kInf});
  EXPECT_EQ(values_of<std::int8_t>(converted(x, DType::i8)), (std::vector<std::int8_t>{-1, 127, -128, 0, 127}));
  EXPECT_EQ(values_of<std::uint8_t>(converted(x, DType::u8)), (std::vector<std::uint8_t>{0, 255, 0, 0, 255}));
  EXPECT_EQ(values_of<std::uint64_t>(converted(row<double>({1e30, 0x1p63}), DType::u64)),
            (std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63}));
}

TEST(Interpreter, ConvertsToBoolByDifferenceFromZero) {
  EXPECT_EQ(values_of<bool>(converted(row<float>({0, -0.0F, 0.1F, kNan}), DType::boolean)),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(values_of<bool>(converted(row<std::int32_t>({0, 256}), DType::boolean)), (std::vector<bool>{false, true}));
  EXPECT_EQ(values_of<float>(converted(row<bool>({true, false}), DType::f32)), (Floats{1, 0}));
}

TEST(Interpreter, ConvertsIntegersWrappingAndRoundsThemOnce) {
  EXPECT_EQ(values_of<std::int8_t>(converted(row<std::int32_t>({257, -129}), DType::i8)),
            (std::vector<std::int8_t>{1, 127}));
  // 2^60 + 2^36 + 1: a double drops the 1 and leaves a tie of f32, which would go down to 2^60.
  const std::int64_t beyond_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(values_of<float>(converted(row<std::int64_t>({beyond_tie, -beyond_tie}), DType::f32)),
            (Floats{0x1.000002p60F, -0x1.000002p60F}));
  EXPECT_EQ(values_of<double>(converted(row<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}), DType::f64)),
            std::vector<double>{0x1p64});
}

TEST(Interpreter, SelectsByElementOrByScalar) {
  const Tensor x = row<float>({1, 2}), y = row<float>({3, 4});
  EXPECT_EQ(values_of<float>(run_op(Op::select, {row<bool>({true, false}), x, y})), (Floats{1, 4}));
  EXPECT_EQ(values_of<float>(run_op(Op::select, {Tensor::scalar(false), x, y})), (Floats{3, 4}));
}

}  // namespace
}  // namespace alate::graph
