// Ops with regions over scalars, and top_k. Numbers are those of jax.lax where not plain arithmetic.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

// Runs an op whose region is over scalars of these dtypes and whose outputs `build` makes of its parameters.
std::vector<Tensor> run_with_region(Op op, const std::vector<Tensor>& operands, Attributes attributes,
                                    const std::vector<DType>& dtypes,
                                    const std::function<std::vector<Value>(Builder&, std::vector<Value>)>& build) {
  Builder b("whole"), r("region", b.dims());
  std::vector<Value> parameters, values;
  for (const DType dtype : dtypes)
    parameters.push_back(r.parameter("p" + std::to_string(parameters.size()), {dtype, {}}));
  for (const Value value : build(r, parameters)) r.output("o" + std::to_string(value.node), value);
  for (const Tensor& operand : operands)
    values.push_back(b.parameter("x" + std::to_string(values.size()), operand.shape()));
  const auto region = std::make_shared<const Graph>(r.finish());
  for (const Value value : b.emit(op, values, std::move(attributes), {region}))
    b.output("r" + std::to_string(value.result), value);
  return interpret(b.finish(), operands, base::Cancellation::never());
}

std::vector<Value> first_is_less(Builder& r, std::vector<Value> p) { return {r.less({p[0], p[1]})}; }

TEST(Interpreter, SortsOperandsTogetherAndKeepsTheOrderOfEqualOnes) {
  const Tensor keys = Tensor::from<std::int32_t>({2, 3}, {3, 1, 2, 1, 1, 0});
  const Tensor values = Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<DType> dtypes{DType::i32, DType::i32, DType::f32, DType::f32};
  std::vector<Tensor> sorted = run_with_region(Op::sort, {keys, values}, Sort{.axis = 1}, dtypes, first_is_less);
  EXPECT_EQ(values_of<std::int32_t>(sorted[0]), (Ints{1, 2, 3, 0, 1, 1}));
  EXPECT_EQ(values_of<float>(sorted[1]), (Floats{2, 3, 1, 6, 4, 5}));
  sorted = run_with_region(Op::sort, {keys, values}, Sort{.axis = 0}, dtypes, first_is_less);
  EXPECT_EQ(values_of<std::int32_t>(sorted[0]), (Ints{1, 1, 0, 3, 1, 2}));
  EXPECT_EQ(values_of<float>(sorted[1]), (Floats{4, 2, 6, 1, 5, 3}));
}

// The example of StableHLO's section on sort.
TEST(Interpreter, SortsByAnyComparison) {
  const Tensor x = Tensor::from<std::int64_t>({2, 3}, {1, 2, 3, 3, 2, 1}),
               y = Tensor::from<std::int64_t>({2, 3}, {3, 2, 1, 1, 2, 3});
  const std::vector<Tensor> sorted =
      run_with_region(Op::sort, {x, y}, Sort{.axis = 0}, std::vector<DType>(4, DType::i64),
                      [](Builder& r, std::vector<Value> p) -> std::vector<Value> {
                        return {r.greater({p[0], p[1]})};
                      });
  EXPECT_EQ(values_of<std::int64_t>(sorted[0]), (std::vector<std::int64_t>{3, 2, 3, 1, 2, 1}));
  EXPECT_EQ(values_of<std::int64_t>(sorted[1]), (std::vector<std::int64_t>{1, 2, 1, 3, 2, 3}));
}

TEST(Interpreter, SortEndsWhateverTheComparisonSays) {
  const Tensor x = counting({37});
  for (const bool always : {true, false}) {
    const std::vector<Tensor> sorted = run_with_region(
        Op::sort, {x}, Sort{}, {DType::f32, DType::f32},
        [&](Builder& r, std::vector<Value>) -> std::vector<Value> { return {r.constant(Tensor::scalar(always))}; });
    Floats values = values_of<float>(sorted[0]);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, values_of<float>(x));  // the same elements, in some order
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Tensor> sorted =
      run_with_region(Op::sort, {row<float>({2, nan, 1})}, Sort{}, {DType::f32, DType::f32}, first_is_less);
  EXPECT_EQ(sorted[0].element_count(), 3);
}

TEST(Interpreter, SortsNothingAndPackedElements) {
  EXPECT_EQ(
      run_with_region(Op::sort, {counting({0})}, Sort{}, {DType::f32, DType::f32}, first_is_less)[0].element_count(),
      0);
  EXPECT_EQ(run_with_region(Op::sort, {counting({0, 2})}, Sort{.axis = 1}, {DType::f32, DType::f32}, first_is_less)[0]
                .element_count(),
            0);
  // Keys 2, 1, 0 with 4-bit values 1, 2, 3, packed low bits first.
  Tensor packed = Tensor::zeros({DType::u4, {3}});
  packed.mutable_bytes()[0] = std::byte{0x21};
  packed.mutable_bytes()[1] = std::byte{0x03};
  const std::vector<Tensor> sorted = run_with_region(Op::sort, {row<float>({2, 1, 0}), packed}, Sort{},
                                                     {DType::f32, DType::f32, DType::u4, DType::u4}, first_is_less);
  EXPECT_EQ(sorted[1].bytes()[0], std::byte{0x23});
  EXPECT_EQ(sorted[1].bytes()[1], std::byte{0x01});
}

TEST(Interpreter, ReducesByARegionInRowMajorOrder) {
  // ((init · 10 + x0) · 10 + x1) …: the digits are the order.
  const auto digits = [](const Tensor& x, Numbers axes) {
    return run_with_region(Op::reduce, {x, Tensor::scalar(9.0F)}, Axes{std::move(axes)}, {DType::f32, DType::f32},
                           [](Builder& r, std::vector<Value> p) -> std::vector<Value> {
                             return {r.add({r.mul({p[0], r.scalar(DType::f32, 10)}), p[1]})};
                           })[0];
  };
  const Tensor x = Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values_of<float>(digits(x, {1})), (Floats{9123, 9456}));
  EXPECT_EQ(values_of<float>(digits(x, {0})), (Floats{914, 925, 936}));
  EXPECT_EQ(values_of<float>(digits(x, {1, 0})), Floats{9123456});
  EXPECT_EQ(values_of<float>(digits(x, {})), (Floats{91, 92, 93, 94, 95, 96}));
  EXPECT_EQ(values_of<float>(digits(Tensor::zeros({DType::f32, {2, 0}}), {1})), (Floats{9, 9}));
  EXPECT_EQ(values_of<float>(digits(Tensor::scalar(7.0F), {})), Floats{97});
}

TEST(Interpreter, ReducesSeveralInputsTogether) {
  // The largest value with its place: an argmax.
  const std::vector<Tensor> found = run_with_region(
      Op::reduce,
      {row<float>({3, 8, 5}), row<std::int32_t>({0, 1, 2}), Tensor::scalar(-1.0F), Tensor::scalar<std::int32_t>(-1)},
      Axes{{0}}, {DType::f32, DType::i32, DType::f32, DType::i32},
      [](Builder& r, std::vector<Value> p) -> std::vector<Value> {
        const Value is_larger = r.greater({p[2], p[0]});
        return {r.select({is_larger, p[2], p[0]}), r.select({is_larger, p[3], p[1]})};
      });
  EXPECT_EQ(values_of<float>(found[0]), Floats{8});
  EXPECT_EQ(values_of<std::int32_t>(found[1]), Ints{1});
}

TEST(Interpreter, Calls) {
  const std::vector<Tensor> results =
      run_with_region(Op::call, {Tensor::scalar(3.0F), Tensor::scalar(4.0F)}, NoAttributes{}, {DType::f32, DType::f32},
                      [](Builder& r, std::vector<Value> p) -> std::vector<Value> {
                        return {r.sub({p[1], p[0]}), p[0]};
                      });
  EXPECT_EQ(values_of<float>(results[0]), Floats{1});
  EXPECT_EQ(values_of<float>(results[1]), Floats{3});
}

std::vector<Tensor> top(const Tensor& x, std::int64_t k) {
  return interpret(graph_of(Op::top_k, {x.shape()}, TopK{k}), std::vector{x}, base::Cancellation::never());
}

TEST(Interpreter, FindsTheLargestByTotalOrder) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const std::vector<Tensor> all =
      top(row<float>({1, kNan, 3, std::copysign(kNan, -1.0F), kInf, 3, -kInf, 0.0F, -0.0F, 0.0F}), 10);
  EXPECT_EQ(values_of<std::int32_t>(all[1]), (Ints{1, 4, 2, 5, 0, 7, 9, 8, 6, 3}));
  EXPECT_TRUE(std::isnan(values_of<float>(all[0])[0]));
  EXPECT_EQ(values_of<float>(all[0])[1], kInf);
  EXPECT_TRUE(std::signbit(values_of<float>(all[0])[7]));
  const std::vector<Tensor> rows = top(Tensor::from<std::int8_t>({2, 4}, {3, 1, 3, 2, -1, -1, 5, -128}), 3);
  EXPECT_EQ(to_string(rows[0].shape()), "i8[2,3]");
  EXPECT_EQ(values_of<std::int8_t>(rows[0]), (std::vector<std::int8_t>{3, 3, 2, 5, -1, -1}));
  EXPECT_EQ(values_of<std::int32_t>(rows[1]), (Ints{0, 2, 3, 2, 0, 1}));
}

TEST(Interpreter, FindsTheLargestOfLittleOrNothing) {
  EXPECT_EQ(top(counting({2, 3}), 0)[0].element_count(), 0);
  EXPECT_EQ(top(Tensor::zeros({DType::f32, {2, 0}}), 0)[1].element_count(), 0);
  EXPECT_EQ(top(Tensor::zeros({DType::f32, {0, 3}}), 2)[1].element_count(), 0);
  EXPECT_EQ(values_of<std::uint64_t>(top(row<std::uint64_t>({1, std::numeric_limits<std::uint64_t>::max()}), 1)[0])[0],
            std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace alate::graph
