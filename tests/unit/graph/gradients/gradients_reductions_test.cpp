#include <memory>

#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

constexpr DType c128 = DType::c128;

TEST(Gradients, OfReductions) {
  for (const Op op : {Op::reduce_sum, Op::reduce_product, Op::reduce_max, Op::reduce_min}) {
    expect_gradients(op, {scattered({2, 3, 2}, 1)}, Axes{{1}});
    expect_gradients(op, {scattered({2, 3, 2}, 2)}, Axes{{2, 0}});
    expect_gradients(op, {scattered({2, 3, 2}, 3)}, Axes{{}});
    expect_gradients(op, {scattered({}, 4)}, Axes{{}});
    expect_gradients(op, {scattered({2, 2}, 5)}, Axes{{0, 1}});
    if (op == Op::reduce_sum || op == Op::reduce_product) {
      expect_gradients(op, {scattered({2, 0}, 1)}, Axes{{1}});
      expect_gradients(op, {scattered({2, 3}, 1, -1, 1, c128)}, Axes{{0, 1}});
    }
  }
}

TEST(Gradients, OfProductsHoldWithZeros) {
  const Tensor zeros = Tensor::from<double>({2, 4}, {2, 0, 3, -1, 0, 5, 0, 2});
  expect_gradients(Op::reduce_product, {zeros}, Axes{{1}});
  expect_gradients(Op::reduce_product, {zeros}, Axes{{0, 1}});
  for (const bool reverse : {false, true}) {
    for (const bool exclusive : {false, true})
      expect_gradients(Op::cumulative_product, {zeros}, Cumulative{1, reverse, exclusive});
  }
}

TEST(Gradients, AreSharedBetweenEqualExtremes) {
  const Graph graph = graph_of(Op::reduce_max, {{DType::f64, {4}}}, Axes{{0}});
  const std::vector<Tensor> found = gradients_at(graph, {row({3., 1., 3., 3.})}, {Tensor::scalar(6.)});
  EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{2, 0, 2, 2}));
}

TEST(Gradients, OfCumulativeOps) {
  for (const Op op : {Op::cumulative_sum, Op::cumulative_product, Op::cumulative_max, Op::cumulative_min}) {
    for (const bool reverse : {false, true}) {
      expect_gradients(op, {scattered({2, 5, 2}, 1)}, Cumulative{1, reverse, false});
      expect_gradients(op, {scattered({5}, 2)}, Cumulative{0, reverse, false});
      expect_gradients(op, {scattered({2, 0}, 2)}, Cumulative{1, reverse, false});
      if (op != Op::cumulative_sum && op != Op::cumulative_product) continue;
      expect_gradients(op, {scattered({4, 3}, 3)}, Cumulative{0, reverse, true});
      expect_gradients(op, {scattered({4}, 3, -1, 1, c128)}, Cumulative{0, reverse, false});
    }
  }
}

// The extreme of nothing is infinite, which no finite difference sees past.
TEST(Gradients, OfExclusiveCumulativeExtremesGoToTheFirstHolder) {
  const Graph graph = graph_of(Op::cumulative_max, {{DType::f64, {5}}}, Cumulative{0, false, true});
  const std::vector<Tensor> found = gradients_at(graph, {row({1., 4., 4., 2., 5.})}, {row({100., 1., 2., 4., 8.})});
  EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{1, 14, 0, 0, 0}));
}

// Descending by the first operand.
Region comparator(const std::shared_ptr<DimTable>& dims, const std::vector<DType>& dtypes) {
  Builder b("comparator", dims);
  std::vector<Value> taken;
  for (const DType dtype : dtypes) {
    for (int i = 0; i < 2; ++i) taken.push_back(b.parameter("p" + std::to_string(taken.size()), {dtype, {}}));
  }
  b.output("before", b.greater({taken[0], taken[1]}));
  return std::make_shared<const Graph>(b.finish());
}

TEST(Gradients, OfSortGoBackToWhereValuesCameFrom) {
  Builder b("sort");
  const Dim n = b.dim("n");
  const Shape shape{DType::f64, {2, n, 2}};
  const Value key = b.parameter("key", shape), other = b.parameter("other", shape),
              number = b.parameter("number", {DType::i32, shape.dims});
  const std::vector<Value> sorted =
      b.sort({key, number, other}, {.axis = 1}, comparator(b.dims(), {DType::f64, DType::i32, DType::f64}));
  b.output("key", sorted[0]);
  b.output("number", sorted[1]);
  b.output("other", sorted[2]);
  expect_gradients(b.finish(),
                   {scattered({2, 4, 2}, 1), scattered({2, 4, 2}, 2), Tensor::zeros({DType::i32, {2, 4, 2}})});
}

TEST(Gradients, OfTopKGoToTheKLargest) {
  expect_gradients(Op::top_k, {scattered({2, 5}, 1)}, TopK{3});
  expect_gradients(Op::top_k, {scattered({4}, 1)}, TopK{0});
  expect_gradients(Op::top_k, {scattered({4}, 1)}, TopK{4});
  // Of equal values the first is taken.
  const Graph graph = graph_of(Op::top_k, {{DType::f64, {4}}}, TopK{2});
  const std::vector<Tensor> found = gradients_at(graph, {row({1., 3., 3., 3.})}, {row({5., 7.})});
  EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{0, 5, 7, 0}));
}

TEST(Gradients, OfReductionsOverNamedDims) {
  Builder b("named");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::f64, {2, n}});
  for (const Op op : {Op::reduce_sum, Op::reduce_product, Op::reduce_max})
    b.output(std::string(to_string(op)), b.emit(op, {x}, Axes{{1, 0}}).front());
  for (const Op op : {Op::cumulative_sum, Op::cumulative_product, Op::cumulative_max})
    b.output(std::string(to_string(op)), b.emit(op, {x}, Cumulative{1}).front());
  b.output("top", b.top_k({x}, {.k = 2})[0]);
  expect_gradients(b.finish(), {scattered({2, 4}, 1)});
}

}  // namespace
}  // namespace alate::graph
