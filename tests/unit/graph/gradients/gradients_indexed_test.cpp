#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

Tensor places(const Numbers& extents, std::initializer_list<std::int32_t> values) {
  return Tensor::from<std::int32_t>(extents, values);
}

TEST(Gradients, OfGatherAddUpWhereSlicesWereTakenTwiceOrClamped) {
  const Gather rows{{1}, {0}, {0}, 1, {1, 3}};
  expect_gradients(Op::gather, {scattered({4, 3}, 1), places({5}, {0, 3, 3, 9, -2})}, rows);
  expect_gradients(Op::gather, {scattered({4, 3}, 1), places({0}, {})}, rows);
  // Windows of 2 × 2 at two coordinates, the last of which are clamped.
  const Gather windows{{1, 2}, {}, {1, 0}, 1, {2, 2}};
  expect_gradients(Op::gather, {scattered({4, 5}, 1), places({3, 2}, {0, 0, 4, 3, -1, 7})}, windows);
  // Vectors along the first axis of the indices.
  const Gather points{{}, {0, 1}, {0, 1}, 0, {1, 1}};
  expect_gradients(Op::gather, {scattered({3, 3}, 1), places({2, 4}, {0, 1, 2, 2, 1, 1, 0, 5})}, points);
  const Gather batches{{1}, {1}, {1}, 1, {1, 1, 2}, {0}, {0}};
  expect_gradients(Op::gather, {scattered({2, 3, 2}, 1), places({2, 1}, {2, 0})}, batches);
  expect_gradients(Op::gather, {scattered({4, 3}, 1, -1, 1, DType::c128), places({2}, {1, 1})}, rows);
  expect_gradients(Op::gather, {scattered({4, 3}, 1), Tensor::from<std::uint64_t>({2}, {1, ~std::uint64_t{0}})}, rows);
}

std::vector<Tensor> scatter_inputs(const Numbers& x, Tensor indices, const Numbers& updates) {
  return {scattered(x, 1), std::move(indices), scattered(updates, 2)};
}

TEST(Gradients, OfScattersOfEveryKind) {
  for (const Op op : {Op::scatter_sum, Op::scatter_set, Op::scatter_max, Op::scatter_min}) {
    const Scatter rows{{1}, {0}, {}, {}, {0}, 1};
    expect_gradients(op, scatter_inputs({4, 3}, places({5}, {0, 3, 3, 9, -2}), {5, 3}), rows);
    // Windows of 2 × 2, of which some elements land outside.
    const Scatter windows{{1, 2}, {}, {}, {}, {1, 0}, 1};
    expect_gradients(op, scatter_inputs({3, 4}, places({4, 2}, {0, 0, 3, 2, -1, 1, 0, 1}), {4, 2, 2}), windows);
    const Scatter batches{{1}, {1}, {0}, {0}, {1}, 1};
    expect_gradients(op, scatter_inputs({2, 3, 2}, places({2, 1}, {2, 0}), {2, 2}), batches);
    const Scatter swapped{{}, {0, 1}, {}, {}, {0, 1}, 0};
    expect_gradients(op, scatter_inputs({3, 3}, places({2, 4}, {0, 1, 2, 2, 1, 1, 0, 5}), {4}), swapped);
    expect_gradients(op, scatter_inputs({}, places({2, 0}, {}), {2}), Scatter{{}, {}, {}, {}, {}, 1});
    expect_gradients(op, scatter_inputs({0, 3}, places({2}, {0, 1}), {2, 3}), rows);
  }
}

TEST(Gradients, OfGatherAndScatterOverNamedDims) {
  Builder b("named");
  const Dim n = b.dim("n"), k = b.dim("k");
  const Value table = b.parameter("table", {DType::f64, {n, 2}}), at = b.parameter("at", {DType::i32, {k}});
  const Value updates = b.parameter("updates", {DType::f64, {k, 2}});
  const Value taken = take_rows(b, table, at);
  b.output("taken", b.mul({taken, taken}));
  for (const Op op : {Op::scatter_sum, Op::scatter_set, Op::scatter_max})
    b.output(std::string(to_string(op)), b.emit(op, {table, at, updates}, Scatter{{1}, {0}, {}, {}, {0}, 1}).front());
  expect_gradients(b.finish(), {scattered({3, 2}, 1), places({4}, {2, 0, 2, 7}), scattered({4, 2}, 2)});
}

TEST(Gradients, AreSharedBetweenEqualElementsOfScatterMax) {
  const Graph graph = graph_of(Op::scatter_max, {{DType::f64, {2}}, {DType::i32, {3}}, {DType::f64, {3}}},
                               Scatter{{}, {0}, {}, {}, {0}, 1});
  const std::vector<Tensor> found =
      gradients_at(graph, {row({5., 1.}), places({3}, {0, 0, 1}), row({5., 5., 0.})}, {row({6., 8.})});
  EXPECT_EQ(values_of<double>(found[0]), (std::vector<double>{2, 8}));
  EXPECT_EQ(values_of<double>(found[1]), (std::vector<double>{2, 2, 0}));
}

}  // namespace
}  // namespace alate::graph
