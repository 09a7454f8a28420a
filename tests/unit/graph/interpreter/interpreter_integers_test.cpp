// Values of XLA, by way of jax 0.10.2, where a test does not say otherwise.
#include "tests/unit/graph/make_tensors.h"

namespace alate::graph {
namespace {

using Doubles = std::vector<double>;

Doubles integers(Op op, DType dtype, const Doubles& x, const Doubles& y) {
  return loaded(run_op(op, {stored(dtype, x), stored(dtype, y)}));
}
Doubles integers(Op op, DType dtype, const Doubles& x) { return loaded(run_op(op, {stored(dtype, x)})); }

TEST(Interpreter, TakesRemaindersWithTheSignOfTheFirst) {
  EXPECT_EQ(integers(Op::rem, DType::i8, {7, -7, 7, -128, 5}, {3, 3, -3, -1, 0}), (Doubles{1, -1, 1, 0, 5}));
  EXPECT_EQ(integers(Op::rem, DType::u8, {7, 200}, {0, 7}), (Doubles{7, 4}));
  EXPECT_EQ(integers(Op::div, DType::i8, {7, -7, 7, -128, 5}, {3, 3, -3, -1, 0}), (Doubles{2, -2, -2, -128, -1}));
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(values_of<std::int64_t>(run_op(Op::rem, {row<std::int64_t>({low, low + 1}), row<std::int64_t>({-1, 10})})),
            (std::vector<std::int64_t>{0, -7}));
}

// The first row is StableHLO's example; the others are arithmetic modulo 256.
TEST(Interpreter, RaisesIntegersToPowersModuloTheirWidth) {
  EXPECT_EQ(integers(Op::pow, DType::i64, {-1, -1, -3, 1, -3, 0}, {1, 0, -3, -3, 3, 2}),
            (Doubles{-1, 1, 0, 1, -27, 0}));
  EXPECT_EQ(integers(Op::pow, DType::i8, {2, -2, 3, -1, -1, 0, 0}, {7, 7, 5, -3, -4, 0, -1}),
            (Doubles{-128, -128, -13, -1, 1, 1, 0}));
  EXPECT_EQ(integers(Op::pow, DType::u8, {3, 2, 0, 255}, {5, 8, 0, 255}), (Doubles{243, 0, 1, 255}));
}

TEST(Interpreter, CountsBitsOfTheDtypesWidth) {
  EXPECT_EQ(integers(Op::popcnt, DType::i8, {-1, 0, 5, -128}), (Doubles{8, 0, 2, 1}));
  EXPECT_EQ(integers(Op::count_leading_zeros, DType::i8, {-1, 0, 5, 1}), (Doubles{0, 8, 5, 7}));
  EXPECT_EQ(integers(Op::count_leading_zeros, DType::u8, {0, 1, 128}), (Doubles{8, 7, 0}));
  EXPECT_EQ(integers(Op::popcnt, DType::i4, {-1, 3}), (Doubles{4, 2}));
  EXPECT_EQ(integers(Op::count_leading_zeros, DType::u4, {0, 1, 8}), (Doubles{4, 3, 0}));
  EXPECT_EQ(integers(Op::count_leading_zeros, DType::i64, {0, 1, -1}), (Doubles{64, 63, 0}));
}

TEST(Interpreter, ShiftsByAnyAmount) {
  EXPECT_EQ(integers(Op::shift_left, DType::i8, {1, 1, -1, 3}, {7, 8, 4, -1}), (Doubles{-128, 0, -16, 0}));
  EXPECT_EQ(integers(Op::shift_right_logical, DType::i8, {-128, -1, -1, 5}, {1, 7, 8, -1}), (Doubles{64, 1, 0, 0}));
  EXPECT_EQ(integers(Op::shift_right_arithmetic, DType::i8, {-128, 127, -1, -128}, {1, 8, 100, -1}),
            (Doubles{-64, 0, -1, -1}));
  EXPECT_EQ(integers(Op::shift_right_arithmetic, DType::u8, {128, 255, 64}, {1, 9, 1}), (Doubles{192, 255, 32}));
  EXPECT_EQ(integers(Op::shift_right_arithmetic, DType::i64, {-8, -8, 8}, {1, 64, 63}), (Doubles{-4, -1, 0}));
  EXPECT_EQ(integers(Op::shift_left, DType::u4, {9, 1}, {1, 4}), (Doubles{2, 0}));
  EXPECT_EQ(integers(Op::shift_right_logical, DType::i4, {-1, -8}, {1, 3}), (Doubles{7, 1}));
}

TEST(Interpreter, CombinesBits) {
  const Doubles x{12, -12, 0}, y{10, 10, -1};
  EXPECT_EQ(integers(Op::bitwise_and, DType::i8, x, y), (Doubles{8, 0, 0}));
  EXPECT_EQ(integers(Op::bitwise_or, DType::i8, x, y), (Doubles{14, -2, -1}));
  EXPECT_EQ(integers(Op::bitwise_xor, DType::i8, x, y), (Doubles{6, -2, -1}));
  EXPECT_EQ(integers(Op::bitwise_not, DType::i8, {0, -128, 5}), (Doubles{-1, 127, -6}));
  EXPECT_EQ(integers(Op::bitwise_not, DType::u4, {0, 5}), (Doubles{15, 10}));
}

// Arithmetic modulo 16.
TEST(Interpreter, ComputesWithIntegersOfFourBits) {
  EXPECT_EQ(integers(Op::add, DType::i4, {7, -8, 3}, {1, -1, 2}), (Doubles{-8, 7, 5}));
  EXPECT_EQ(integers(Op::mul, DType::u4, {5, 15, 3}, {3, 15, 6}), (Doubles{15, 1, 2}));
  EXPECT_EQ(integers(Op::div, DType::i4, {-8, 7, 5}, {-1, 0, 2}), (Doubles{-8, -1, 2}));
  EXPECT_EQ(integers(Op::div, DType::u4, {9}, {0}), (Doubles{15}));
  EXPECT_EQ(integers(Op::abs, DType::i4, {-8, -3, 7}), (Doubles{-8, 3, 7}));
  EXPECT_EQ(integers(Op::max, DType::i4, {-8, 2, 1}, {7, -2, 1}), (Doubles{7, 2, 1}));
  EXPECT_EQ(integers(Op::less, DType::i4, {-8, 2, 1}, {7, -2, 1}), (Doubles{1, 0, 0}));
  const Tensor x = stored(DType::i4, {1, 2, 3, -4, 5, 6}, {2, 3});
  EXPECT_EQ(loaded(run_op(Op::reduce_sum, {x}, Axes{{1}})), (Doubles{6, 7}));
  EXPECT_EQ(loaded(run_op(Op::reduce_max, {x}, Axes{{0}})), (Doubles{1, 5, 6}));
  EXPECT_EQ(loaded(run_op(Op::dot_general, {x, x}, DotGeneral{{}, {}, {1}, {1}})), (Doubles{-2, -8, -8, -3}));
}

TEST(Interpreter, AddsAndMultipliesTruthValuesAsOrAndAnd) {
  const Tensor x = row<bool>({false, false, true, true}), y = row<bool>({false, true, false, true});
  const std::vector<bool> either{false, true, true, true}, both{false, false, false, true};
  EXPECT_EQ(values_of<bool>(run_op(Op::add, {x, y})), either);
  EXPECT_EQ(values_of<bool>(run_op(Op::max, {x, y})), either);
  EXPECT_EQ(values_of<bool>(run_op(Op::mul, {x, y})), both);
  EXPECT_EQ(values_of<bool>(run_op(Op::min, {x, y})), both);
  EXPECT_EQ(values_of<bool>(run_op(Op::logical_xor, {x, y})), (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(values_of<bool>(run_op(Op::less, {x, y})), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(values_of<bool>(run_op(Op::dot_general, {x, y}, DotGeneral{{}, {}, {0}, {0}})), std::vector<bool>{true});
  EXPECT_EQ(values_of<bool>(run_op(Op::reduce_sum, {x}, Axes{{0}})), std::vector<bool>{true});
}

}  // namespace
}  // namespace alate::graph
