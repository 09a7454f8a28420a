#include "graph/gradients.h"
#include "tests/unit/graph/gradients/gradients_check.h"

namespace alate::graph {
namespace {

TEST(Gradients, OfReshapeTransposeAndReverse) {
  for (const DType dtype : {DType::f64, DType::c128}) {
    expect_gradients(Op::reshape, {scattered({2, 6}, 1, -1, 1, dtype)}, Reshape{{3, 4}});
    expect_gradients(Op::reshape, {scattered({1}, 1, -1, 1, dtype)}, Reshape{{}});
    expect_gradients(Op::transpose, {scattered({2, 3, 4}, 1, -1, 1, dtype)}, Permutation{{2, 0, 1}});
    expect_gradients(Op::transpose, {scattered({}, 1, -1, 1, dtype)}, Permutation{{}});
    expect_gradients(Op::reverse, {scattered({2, 3, 2}, 1, -1, 1, dtype)}, Axes{{2, 0}});
  }
}

TEST(Gradients, OfBroadcastsAreSums) {
  expect_gradients(Op::broadcast_in_dim, {scattered({}, 1)}, BroadcastInDim{{2, 3}, {}});
  expect_gradients(Op::broadcast_in_dim, {scattered({3, 1}, 1)}, BroadcastInDim{{2, 3, 4}, {1, 2}});
  expect_gradients(Op::broadcast_in_dim, {scattered({4, 2}, 1)}, BroadcastInDim{{2, 3, 4}, {2, 0}});
  expect_gradients(Op::broadcast_in_dim, {scattered({1, 3, 1}, 1)}, BroadcastInDim{{1, 2, 5, 3}, {2, 3, 0}});
  expect_gradients(Op::broadcast_in_dim, {scattered({1, 2}, 1)}, BroadcastInDim{{2, 0}, {1, 0}});
}

TEST(Gradients, OfConcatenateAreItsParts) {
  expect_gradients(Op::concatenate, {scattered({2, 1}, 1), scattered({2, 3}, 2), scattered({2, 0}, 3)}, Axis{1});
  expect_gradients(Op::concatenate, {scattered({2, 1}, 1)}, Axis{0});
}

TEST(Gradients, OfSlicesWithStrides) {
  expect_gradients(Op::slice, {scattered({7, 5}, 1)}, Slice{{1, 0}, {6, 5}, {2, 3}});
  expect_gradients(Op::slice, {scattered({7, 5}, 1)}, Slice{{0, 2}, {7, 2}, {}});
  expect_gradients(Op::slice, {scattered({1, 4}, 1)}, Slice{{0, 3}, {1, 4}, {5, 2}});
  expect_gradients(Op::slice, {scattered({}, 1)}, Slice{});
}

TEST(Gradients, OfPadsWithHolesAndCuts) {
  const Tensor padding = Tensor::scalar(0.3);
  expect_gradients(Op::pad, {scattered({3, 4}, 1), padding}, Pad{{1, 0}, {2, 3}, {2, 0}});
  expect_gradients(Op::pad, {scattered({3, 4}, 1), padding}, Pad{{-1, 2}, {1, -3}, {1, 2}});
  expect_gradients(Op::pad, {scattered({3, 4}, 1), padding}, Pad{{-2, -4}, {0, 2}, {}});
  expect_gradients(Op::pad, {scattered({0}, 1), padding}, Pad{{2}, {1}, {4}});
  expect_gradients(Op::pad, {scattered({}, 1), padding}, Pad{});
  expect_gradients(Op::pad, {scattered({2}, 1, 0, 1, DType::c128), scattered({}, 2, 0, 1, DType::c128)},
                   Pad{{1}, {1}, {1}});
}

TEST(Gradients, OfDynamicSlicesAtPlacesThatAreClamped) {
  for (const std::int32_t start : {0, 1, 9, -4}) {
    const Tensor place = Tensor::scalar(start), one = Tensor::scalar(std::int32_t{1});
    expect_gradients(Op::dynamic_slice, {scattered({4, 3}, 1), place, one}, DynamicSlice{{2, 1}});
    expect_gradients(Op::dynamic_update_slice, {scattered({4, 3}, 1), scattered({2, 1}, 2), place, one});
  }
  const Tensor dims = Tensor::from<std::int32_t>({2}, {3, 2});
  expect_gradients(Op::dynamic_reshape, {scattered({6}, 1), dims}, Reshape{{3, 2}});
}

TEST(Gradients, GoThroughBarriers) {
  expect_gradients(Op::optimization_barrier, {scattered({2}, 1), row<std::int32_t>({1, 2}), scattered({3}, 2)});
  expect_gradients(Op::scheduling_barrier, {scattered({2}, 1), scattered({3}, 2)});
}

TEST(Gradients, OfOneDeviceTalkingToItself) {
  expect_gradients(Op::all_reduce, {scattered({2}, 1), scattered({3}, 2)}, AllReduce{});
  expect_gradients(Op::all_gather, {scattered({2, 3}, 1)}, AllGather{.axis = 1, .replica_groups = {}});
  expect_gradients(Op::all_to_all, {scattered({2, 3}, 1)}, AllToAll{0, 1, 1, {}});
  expect_gradients(Op::reduce_scatter, {scattered({2, 3}, 1)}, ReduceScatter{});
  expect_gradients(Op::collective_permute, {scattered({2}, 1)}, CollectivePermute{{{0, 0}}});
  expect_gradients(Op::collective_permute, {scattered({2}, 1)}, CollectivePermute{});
}

TEST(Gradients, OfNamedDimsStayNamed) {
  Builder b("named");
  const Dim n = b.dim("n"), m = b.dim("m");
  const Value x = b.parameter("x", {DType::f64, {n, 4}}), row = b.parameter("row", {DType::f64, {4}});
  const Value longer = b.parameter("longer", {DType::f64, {m, 4}});
  const Value sum = b.add({x, broadcast_to(b, row, {n, 4})});
  const Value turned = b.transpose({b.reshape({sum}, {.dims = {n, 2, 2}})}, {.permutation = {2, 0, 1}});
  b.output("turned", b.mul({turned, turned}));
  const Value first = b.slice({longer}, {.starts = {0, 0}, .limits = {n, 4}, .strides = {1, 2}});
  const Value some = b.slice({longer}, {.starts = {1, 1}, .limits = {4, 3}, .strides = {2, 1}});
  b.output("first", b.mul({first, first}));
  b.output("some", b.mul({some, some}));
  const Graph graph = b.finish();
  expect_gradients(graph, {scattered({3, 4}, 1), scattered({4}, 2), scattered({5, 4}, 3)});
  const Graph back = vector_jacobian_product(graph, differentiable_outputs(graph), differentiable_parameters(graph));
  EXPECT_EQ(back.shape(back.outputs()[2].value), (Shape{DType::f64, {m, 4}}));
}

}  // namespace
}  // namespace alate::graph
