#include <cmath>
#include <limits>

#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

constexpr DType c128 = DType::c128;

Numbers shapes_extent(int which) {
  if (which == 0) return {};
  if (which == 1) return {0, 2};
  return {2, 3};
}

TEST(Gradients, OfUnaryOps) {
  const struct {
    Op op;
    double low, high;
  } cases[] = {{Op::identity, -2, 2}, {Op::abs, 0.1, 2},
               {Op::abs, -2, -0.1},   {Op::neg, -2, 2},
               {Op::sign, 0.1, 2},    {Op::exp, -2, 2},
               {Op::expm1, -1, 1},    {Op::log, 0.2, 3},
               {Op::log1p, -0.7, 2},  {Op::logistic, -3, 3},
               {Op::tanh, -2, 2},     {Op::sin, -3, 3},
               {Op::cos, -3, 3},      {Op::tan, -1.2, 1.2},
               {Op::erf, -2, 2},      {Op::sqrt, 0.1, 3},
               {Op::rsqrt, 0.3, 3},   {Op::cbrt, 0.2, 3},
               {Op::cbrt, -3, -0.2},  {Op::floor, 0.1, 0.9},
               {Op::ceil, 0.1, 0.9},  {Op::round_nearest_even, 0.6, 1.4},
               {Op::real, -1, 1},     {Op::imag, -1, 1}};
  for (const auto& [op, low, high] : cases) {
    for (int which = 0; which < 3; ++which) expect_gradients(op, {scattered(shapes_extent(which), 1, low, high)});
  }
}

TEST(Gradients, OfUnaryOpsOfComplexNumbersFollowReOfCotangentTimesChange) {
  for (const Op op : {Op::identity, Op::abs, Op::neg, Op::sign, Op::exp, Op::expm1, Op::log, Op::log1p, Op::logistic,
                      Op::tanh, Op::sin, Op::cos, Op::tan, Op::sqrt, Op::rsqrt, Op::real, Op::imag, Op::conj}) {
    expect_gradients(op, {scattered({2, 3}, 2, 0.2, 1.3, c128)});
    expect_gradients(op, {scattered({}, 3, 0.2, 1.3, c128)});
  }
}

TEST(Gradients, OfBinaryOps) {
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::rem, Op::pow, Op::atan2, Op::max, Op::min, Op::complex}) {
    for (int which = 0; which < 3; ++which) {
      const Numbers extents = shapes_extent(which);
      expect_gradients(op, {scattered(extents, 1, 2.1, 2.9), scattered(extents, 2, 0.55, 0.69)});
      expect_gradients(op, {scattered(extents, 3, 0.3, 2), scattered(extents, 4, 1.1, 3)}, NoAttributes{}, 1e-6);
    }
  }
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::pow})
    expect_gradients(op, {scattered({4}, 1, 0.4, 1.5, c128), scattered({4}, 2, 0.5, 1.4, c128)});
}

TEST(Gradients, OfAValueThatIsBothOperandsAddUp) {
  for (const Op op : {Op::add, Op::mul, Op::div, Op::pow, Op::sub}) {
    Builder b(std::string(to_string(op)) + " twice");
    const Value x = b.parameter("x", {DType::f64, {3}});
    b.output("y", b.emit(op, {x, x}, NoAttributes{}).front());
    expect_gradients(b.finish(), {scattered({3}, 1, 0.5, 1.5)});
  }
}

TEST(Gradients, OfSelectAndClampAndConvert) {
  const Tensor chosen = Tensor::from<bool>({2, 2}, {true, false, false, true});
  expect_gradients(Op::select, {chosen, scattered({2, 2}, 1), scattered({2, 2}, 2)});
  expect_gradients(Op::select, {Tensor::scalar(false), scattered({2, 2}, 1), scattered({2, 2}, 2)});
  expect_gradients(Op::select, {chosen, scattered({2, 2}, 1, 0, 1, c128), scattered({2, 2}, 2, 0, 1, c128)});
  const Tensor x = scattered({3, 3}, 3, -2, 2);
  expect_gradients(Op::clamp, {Tensor::scalar(-0.7), x, Tensor::scalar(0.9)});
  expect_gradients(Op::clamp, {scattered({3, 3}, 4, -2, 1), x, scattered({3, 3}, 5, -1, 2)});
  expect_gradients(Op::clamp, {Tensor::scalar(1.2), x, Tensor::scalar(0.3)});
  expect_gradients(Op::convert, {scattered({3}, 1)}, Convert{c128});
  expect_gradients(Op::convert, {scattered({3}, 1, -1, 1, c128)}, Convert{DType::f64});
}

// Narrow floats go back in their own dtypes, integers pass nothing.
TEST(Gradients, OfConvertHaveTheDtypeOfWhatIsConverted) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::c64}) {
    Builder b("convert");
    const Value x = b.parameter("x", {dtype, {2}});
    const Value y = b.convert({x}, {.dtype = DType::f64});
    const Value through_integers = b.convert({b.convert({x}, {.dtype = DType::i32})}, {.dtype = DType::f64});
    b.output("sum", b.reduce_sum({b.add({y, b.mul({through_integers, through_integers})})}, {.axes = {0}}));
    const std::size_t first = 0;
    const Graph graph = with_gradients(b.finish(), 0, std::span(&first, 1));
    EXPECT_EQ(graph.shape(graph.outputs()[1].value), (Shape{dtype, {2}}));
    const Tensor found = run_op(
        Op::convert, {interpret(graph, std::vector{Tensor::zeros({dtype, {2}})}, base::Cancellation::never())[1]},
        Convert{DType::f32});
    EXPECT_EQ(values_of<float>(found), (std::vector<float>{1, 1}));
  }
}

TEST(Gradients, AreSharedBetweenEqualOperandsOfMaxAndMin) {
  for (const Op op : {Op::max, Op::min}) {
    const Graph graph = graph_of(op, {{DType::f64, {2}}, {DType::f64, {2}}});
    const std::vector<Tensor> found = gradients_at(graph, {row({1., 2.}), row({1., 2.})}, {row({6., 8.})});
    EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{3, 4}));
    EXPECT_EQ(values_of<double>(found[1]), (std::vector<double>{3, 4}));
  }
}

}  // namespace
}  // namespace alate::graph
