#include <limits>

#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

// The ops that are left of a function of x, which computes the same bits for values with signs and without numbers.
std::string simplified(const std::function<Value(Builder&, Value)>& function, DType dtype = DType::f32) {
  Builder b("g");
  const Value x = b.parameter("x", {dtype, {6}});
  b.output("y", function(b, x));
  const Graph before = b.finish(), after = eliminate_dead_nodes(simplify_arithmetic(before));
  const Tensor floats = row<float>({-0.0f, 0.0f, -1.5f, kInf, -kInf, kNan});
  const Tensor integers = row<std::int32_t>({0, 1, -1, std::numeric_limits<std::int32_t>::min(), 7, 1 << 30});
  const Tensor others = run_op(Op::convert, {row<std::int32_t>({0, 1, 1, 0, 0, 1})}, Convert{dtype});
  const Tensor& input = dtype == DType::f32 ? floats : dtype == DType::i32 ? integers : others;
  if (dtype == DType::f32) {
    const std::vector<Tensor> a = interpret(before, {&input, 1}, base::Cancellation::never()),
                              c = interpret(after, {&input, 1}, base::Cancellation::never());
    for (std::size_t i = 0; i < 6; ++i) {
      const float wanted = a[0].values<float>()[i], found = c[0].values<float>()[i];
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(found)
                                     : wanted == found && std::signbit(wanted) == std::signbit(found))
          << wanted << " became " << found;
    }
  } else {
    expect_same_outputs(before, after, {input}, 0);
  }
  return op_names(after);
}
std::string with_number(Op op, double number, DType dtype = DType::f32, bool number_first = false) {
  return simplified(
      [&](Builder& b, Value x) {
        const Value y = scalar_like(b, number, x);
        return b.emit(op, number_first ? std::vector{y, x} : std::vector{x, y}, NoAttributes{}).front();
      },
      dtype);
}

TEST(SimplifyArithmetic, DropsWhatChangesNothingInText) {
  expect_pass(simplify_arithmetic, R"(graph "g" {
    @0 = "one" : f32[] [1]
    %0 = parameter "x" : f32[3]
    %1 = constant @0
    %2 = broadcast_in_dim(%1) {dims = [3], mapping = []} : f32[3]
    %3 = mul(%2, %0) : f32[3]
    %4 = neg(%3) : f32[3]
    %5 = neg(%4) : f32[3]
    %6 = exp(%5) : f32[3]
    output "y" = %6
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[3]
    %1 = exp(%0) : f32[3]
    output "y" = %1
  })");
}

TEST(SimplifyArithmetic, AddsOnlyTheZeroThatChangesNothing) {
  EXPECT_EQ(with_number(Op::add, -0.0), "");
  EXPECT_EQ(with_number(Op::add, -0.0, DType::f32, true), "");
  EXPECT_EQ(with_number(Op::add, 0.0), "broadcast_in_dim add");  // of -0 it makes 0
  EXPECT_EQ(with_number(Op::sub, 0.0), "");
  EXPECT_EQ(with_number(Op::sub, -0.0), "broadcast_in_dim sub");
  EXPECT_EQ(with_number(Op::sub, 0.0, DType::f32, true), "broadcast_in_dim sub");
  EXPECT_EQ(with_number(Op::add, 0, DType::i32), "");
  EXPECT_EQ(with_number(Op::sub, 0, DType::i32), "");
}

TEST(SimplifyArithmetic, MultipliesAndDividesByOne) {
  EXPECT_EQ(with_number(Op::mul, 1), "");
  EXPECT_EQ(with_number(Op::mul, 1, DType::i32, true), "");
  EXPECT_EQ(with_number(Op::div, 1), "");
  EXPECT_EQ(with_number(Op::div, 1, DType::f32, true), "broadcast_in_dim div");
  EXPECT_EQ(with_number(Op::mul, 0), "broadcast_in_dim mul");  // NaN of infinities
}

TEST(SimplifyArithmetic, WritesPowersAsProductsWhereTheyRoundAlike) {
  EXPECT_EQ(with_number(Op::pow, 1), "");
  EXPECT_EQ(with_number(Op::pow, 2), "mul");
  EXPECT_EQ(with_number(Op::pow, 2, DType::i32), "mul");
  EXPECT_EQ(with_number(Op::pow, -1), "broadcast_in_dim div");
  EXPECT_EQ(with_number(Op::pow, 0.5), "broadcast_in_dim pow");
  EXPECT_EQ(with_number(Op::pow, 3), "broadcast_in_dim pow");
}

TEST(SimplifyArithmetic, UndoesWhatUndoesItself) {
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.neg({b.neg({b.neg({x})})}); }), "neg");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.neg({b.neg({x})}); }, DType::i32), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.bitwise_not({b.bitwise_not({x})}); }, DType::i32), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.logical_not({b.logical_not({x})}); }, DType::boolean), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.abs({b.neg({x})}); }), "abs");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.abs({b.neg({b.abs({x})})}); }, DType::i32), "abs abs");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.abs({b.neg({x})}); }, DType::u8), "neg abs");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.identity({x}); }), "");
}

TEST(SimplifyArithmetic, ChoosesBetweenEqualValues) {
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.select({b.is_nan({x}), x, x}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.max({x, x}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.min({x, x}); }), "");
  EXPECT_EQ(simplified([](Builder& b, Value x) { return b.bitwise_or({x, x}); }, DType::i32), "");
}

TEST(SimplifyArithmetic, KnowsWhatIsNeutralForTruthValues) {
  EXPECT_EQ(with_number(Op::logical_and, 1, DType::boolean), "");
  EXPECT_EQ(with_number(Op::logical_or, 0, DType::boolean), "");
  EXPECT_EQ(with_number(Op::logical_and, 0, DType::boolean), "broadcast_in_dim logical_and");
  EXPECT_EQ(with_number(Op::add, 0, DType::boolean), "");  // or
}

TEST(SimplifyArithmetic, DropsConversionsThatLoseNothing) {
  const auto there_and_back = [](DType dtype, DType through) {
    return simplified(
        [=](Builder& b, Value x) { return b.convert({b.convert({x}, {.dtype = through})}, {.dtype = dtype}); }, dtype);
  };
  EXPECT_EQ(there_and_back(DType::f32, DType::f64), "");
  EXPECT_EQ(there_and_back(DType::f32, DType::f32), "");
  EXPECT_EQ(there_and_back(DType::f32, DType::f16), "convert convert");
  EXPECT_EQ(there_and_back(DType::i32, DType::i64), "");
  EXPECT_EQ(there_and_back(DType::i32, DType::f64), "");
  EXPECT_EQ(there_and_back(DType::i32, DType::f32), "convert convert");
  EXPECT_EQ(there_and_back(DType::i32, DType::u64), "convert convert");
}

TEST(SimplifyArithmetic, LeavesComplexNumbersAlone) {
  Builder b("g");
  const Value x = b.parameter("x", {DType::c64, {2}});
  b.output("y", b.mul({x, scalar_like(b, 1, x)}));
  EXPECT_EQ(op_names(simplify_arithmetic(b.finish())), "broadcast_in_dim mul");
}

}  // namespace
}  // namespace alate::graph
