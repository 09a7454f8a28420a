// Ops over the dtypes that are stored and moved, orders of floats, and bounds.
#include <bit>
#include <cmath>

#include "tests/unit/graph/make_tensors.h"

namespace alate::graph {
namespace {

using Doubles = std::vector<double>;
using Bools = std::vector<bool>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor converted(const Tensor& x, DType to) { return run_op(Op::convert, {x}, Convert{to}); }

// Elements that every dtype has, told apart as far as it can.
Tensor some(DType dtype, std::vector<std::int64_t> extents) {
  const auto count = static_cast<std::size_t>(product(extents));
  Doubles values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(i * 7 % 3 == 0 ? 1 : 2);
  if (is_complex(dtype)) return converted(stored(DType::f64, values, extents), dtype);
  return stored(dtype, values, extents);
}

std::vector<DType> movable() {
  std::vector<DType> dtypes;
  for (const DType dtype : all_dtypes()) {
    if (contains(kAny, dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

// What an op does to elements of any dtype is what it does to the f64 that they stand for.
TEST(InterpreterDtypes, MovesElementsOfEveryDtype) {
  EXPECT_EQ(movable().size(), 30U);
  const std::vector<std::pair<Op, Attributes>> ops = {
      {Op::transpose, Permutation{{1, 0}}},
      {Op::reshape, Reshape{{3, 5}}},
      {Op::slice, Slice{{1, 0}, {5, 3}, {2, 2}}},
      {Op::broadcast_in_dim, BroadcastInDim{{2, 5, 3}, {1, 2}}},
      {Op::identity, NoAttributes{}},
  };
  for (const DType dtype : movable()) {
    const Tensor x = some(dtype, {5, 3}), wide = converted(x, DType::f64);
    for (const auto& [op, attributes] : ops) {
      const Tensor result = run_op(op, {x}, attributes);
      EXPECT_EQ(result.dtype(), dtype);
      EXPECT_EQ(loaded(converted(result, DType::f64)), loaded(run_op(op, {wide}, attributes)))
          << to_string(op) << ' ' << to_string(dtype);
    }
    const Tensor joined = run_op(Op::concatenate, {x, x, x}, Axis{1});
    EXPECT_EQ(loaded(converted(joined, DType::f64)), loaded(run_op(Op::concatenate, {wide, wide, wide}, Axis{1})));
    const Tensor indices = Tensor::from<std::int32_t>({2}, {4, 1});
    const Gather rows{{1}, {0}, {0}, 1, {1, 3}};
    EXPECT_EQ(loaded(converted(run_op(Op::gather, {x, indices}, rows), DType::f64)),
              loaded(run_op(Op::gather, {wide, indices}, rows)));
    const Tensor mask = Tensor::from<bool>({3}, {true, false, true}), a = some(dtype, {3}),
                 b = run_op(Op::slice, {some(dtype, {4})}, Slice{{1}, {4}, {}});
    EXPECT_EQ(loaded(converted(run_op(Op::select, {mask, a, b}), DType::f64)),
              loaded(run_op(Op::select, {mask, converted(a, DType::f64), converted(b, DType::f64)})));
  }
}

TEST(InterpreterDtypes, LeavesNoBitsAfterTheLastPackedElement) {
  const Tensor result = run_op(Op::slice, {stored(DType::i4, {-1, -1, -1, -1})}, Slice{{0}, {3}, {}});
  EXPECT_EQ(result.bytes()[1], std::byte{0x0f});
  EXPECT_EQ(run_op(Op::slice, {stored(DType::u1, {1, 1})}, Slice{{1}, {1}, {}}).byte_count(), 0U);
}

TEST(InterpreterDtypes, ConvertsToNarrowIntegers) {
  const Tensor x = row<float>({-9, -1.9F, 7.9F, 99, kNan, kInf});
  EXPECT_EQ(loaded(converted(x, DType::i4)), (Doubles{-8, -1, 7, 7, 0, 7}));
  EXPECT_EQ(loaded(converted(x, DType::u4)), (Doubles{0, 0, 7, 15, 0, 15}));
  EXPECT_EQ(loaded(converted(x, DType::u1)), (Doubles{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(loaded(converted(row<std::int32_t>({-9, 8, 17}), DType::i4)), (Doubles{7, -8, 1}));  // wraps
  EXPECT_EQ(loaded(converted(stored(DType::i4, {-8, 7}), DType::u8)), (Doubles{248, 7}));
  EXPECT_EQ(loaded(converted(stored(DType::i2, {-2, 1}), DType::f32)), (Doubles{-2, 1}));
}

// Values of ml_dtypes 0.6.0.
TEST(InterpreterDtypes, ConvertsSmallFloats) {
  EXPECT_EQ(loaded(converted(row<float>({7, -7, 2.5F, 0.25F, -0.75F}), DType::f4e2m1fn)), (Doubles{6, -6, 2, 0, -1}));
  EXPECT_EQ(loaded(converted(row<float>({1000, 240, 1.0625F, -17}), DType::f8e4m3)), (Doubles{kInf, 240, 1, -16}));
  EXPECT_EQ(loaded(converted(row<float>({3, 1.5F, 6e-39F}), DType::f8e8m0fnu)), (Doubles{4, 2, 0x1p-127}));
  EXPECT_TRUE(std::isnan(loaded(converted(row<float>({1000}), DType::f8e4m3fnuz))[0]));
}

// Each value is totally ordered before the next.
TEST(InterpreterDtypes, OrdersAllFloatsTotally) {
  const auto pattern = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const std::vector<float> ascending{pattern(0xffc00001),
                                     pattern(0xffc00000),
                                     pattern(0xff800001),
                                     -kInf,
                                     -1,
                                     pattern(0x80000001),
                                     -0.0F,
                                     0.0F,
                                     1e-30F,
                                     2,
                                     kInf,
                                     pattern(0x7f800001),
                                     pattern(0x7fc00000)};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const Tensor x = row<float>({ascending[i]}), y = row<float>({ascending[j]});
      const auto holds = [&](Op op) -> bool { return values_of<bool>(run_op(op, {x, y}))[0]; };
      EXPECT_EQ(holds(Op::less_total_order), i < j);
      EXPECT_EQ(holds(Op::less_or_equal_total_order), i <= j);
      EXPECT_EQ(holds(Op::greater_total_order), i > j);
      EXPECT_EQ(holds(Op::greater_or_equal_total_order), i >= j);
      EXPECT_EQ(holds(Op::equal_total_order), i == j);
      EXPECT_EQ(holds(Op::not_equal_total_order), i != j);
    }
  }
  const Tensor zeros = stored(DType::bf16, {-0.0, 0.0}), swapped = stored(DType::bf16, {0.0, -0.0});
  EXPECT_EQ(values_of<bool>(run_op(Op::less_total_order, {zeros, swapped})), (Bools{true, false}));
}

TEST(InterpreterDtypes, TellsFiniteValuesAndNan) {
  const Tensor x = row<float>({0, kInf, -kInf, kNan, 3e38F});
  EXPECT_EQ(values_of<bool>(run_op(Op::is_finite, {x})), (Bools{true, false, false, false, true}));
  EXPECT_EQ(values_of<bool>(run_op(Op::is_nan, {x})), (Bools{false, false, false, true, false}));
}

// Values of XLA, by way of jax 0.10.2.
TEST(InterpreterDtypes, ClampsToScalarOrEqualBounds) {
  const std::vector<float> bounded =
      values_of<float>(run_op(Op::clamp, {row<float>({1, 1, 2}), row<float>({kNan, 0, 5}), row<float>({3, 3, 1})}));
  EXPECT_TRUE(std::isnan(bounded[0]));
  EXPECT_EQ(bounded[1], 1);
  EXPECT_EQ(bounded[2], 1);  // the upper bound wins
  EXPECT_EQ(loaded(run_op(Op::clamp, {Tensor::scalar(0.0F), row<float>({-1, 0.5F, 9}), Tensor::scalar(1.0F)})),
            (Doubles{0, 0.5, 1}));
  EXPECT_EQ(loaded(run_op(Op::clamp,
                          {stored(DType::i4, {-2}, {}), stored(DType::i4, {-8, 7, 0}), stored(DType::i4, {1, 1, 1})})),
            (Doubles{-2, 1, 0}));
  EXPECT_NE(refusal([] {
              run_op(Op::clamp, {row<float>({0}), row<float>({0, 1}), Tensor::scalar(1.0F)});
            }).find("operand 0 must have the dtype of operand 1 and be a scalar or have its dims"),
            std::string::npos);
}

// Values of XLA, by way of jax 0.10.2.
TEST(InterpreterDtypes, FloatRemaindersAnglesAndRoots) {
  const std::vector<float> rem = values_of<float>(
      run_op(Op::rem, {row<float>({5.5F, -5.5F, 5.5F, -0.0F, 3, 1, kInf}), row<float>({2, 2, -2, 3, kInf, 0, 2})}));
  EXPECT_EQ(std::vector<float>(rem.begin(), rem.begin() + 5), (std::vector<float>{1.5F, -1.5F, 1.5F, -0.0F, 3}));
  EXPECT_TRUE(std::signbit(rem[3]) && std::isnan(rem[5]) && std::isnan(rem[6]));
  const std::vector<float> angles = values_of<float>(
      run_op(Op::atan2, {row<float>({0, -0.0F, 0, -0.0F, 1, kInf}), row<float>({1, 1, -1, -1, 0, -kInf})}));
  EXPECT_EQ(angles, (std::vector<float>{0, -0.0F, 3.1415927F, -3.1415927F, 1.5707964F, 2.3561945F}));
  EXPECT_TRUE(std::signbit(angles[1]));
  EXPECT_EQ(values_of<float>(run_op(Op::cbrt, {row<float>({-8, 27, 0.001F, -0.0F})})),
            (std::vector<float>{-2, 3, 0.1F, -0.0F}));
  EXPECT_EQ(values_of<float>(run_op(Op::tan, {row<float>({1, 0.5F})})), (std::vector<float>{1.5574077F, 0.5463025F}));
  EXPECT_EQ(values_of<float>(run_op(Op::sin, {row<float>({1})})), (std::vector<float>{0.84147098F}));
  EXPECT_EQ(values_of<float>(run_op(Op::cos, {row<float>({1, 100})})), (std::vector<float>{0.5403023F, 0.8623189F}));
}

TEST(InterpreterDtypes, ReinterpretsBitsLowOnesFirst) {
  const auto cast = [](const Tensor& x, DType to) { return run_op(Op::bitcast, {x}, Convert{to}); };
  const Tensor words = row<std::uint32_t>({0x3f800000, 0x01020304});
  EXPECT_EQ(values_of<float>(cast(words, DType::f32))[0], 1);
  const Tensor bytes = cast(words, DType::u8);
  EXPECT_EQ(bytes.shape(), (Shape{DType::u8, {2, 4}}));
  EXPECT_EQ(loaded(bytes), (Doubles{0, 0, 0x80, 0x3f, 4, 3, 2, 1}));
  EXPECT_TRUE(std::ranges::equal(cast(bytes, DType::u32).bytes(), words.bytes()));
  const Tensor halves = cast(row<std::uint8_t>({0x21, 0xf8}), DType::i4);
  EXPECT_EQ(halves.shape(), (Shape{DType::i4, {2, 2}}));
  EXPECT_EQ(loaded(halves), (Doubles{1, 2, -8, -1}));
  EXPECT_EQ(loaded(cast(stored(DType::u2, {1, 0, 3, 3, 2, 1}, {3, 2}), DType::u4)), (Doubles{1, 15, 6}));
  EXPECT_EQ(cast(Tensor::scalar(1.0), DType::u1).shape(), (Shape{DType::u1, {64}}));
  EXPECT_EQ(cast(Tensor::zeros({DType::i8, {0, 2}}), DType::f16).shape(), (Shape{DType::f16, {0}}));

  const auto refused = [&](const Tensor& x, DType to) { return refusal([&] { cast(x, to); }); };
  EXPECT_NE(refused(row<std::uint8_t>({1, 2, 3}), DType::u16)
                .find("the last axis must be the 2 elements that make one of the result"),
            std::string::npos);
  EXPECT_NE(refused(Tensor::scalar<std::uint8_t>(1), DType::u16).find("the last axis"), std::string::npos);
  EXPECT_NE(refused(row<std::uint8_t>({1}), DType::boolean).find("cannot reinterpret"), std::string::npos);
  EXPECT_NE(refused(row<double>({1}), DType::c64).find("complex values have the bits"), std::string::npos);
}

}  // namespace
}  // namespace alate::graph
