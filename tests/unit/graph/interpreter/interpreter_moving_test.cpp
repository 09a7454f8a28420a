// Ops that pad, reverse, and slice at dynamic indices. Numbers are those of jax.lax where not plain arithmetic.
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

Tensor pad(const Tensor& x, float value, Pad attributes) {
  return run_op(Op::pad, {x, Tensor::scalar(value)}, std::move(attributes));
}

Tensor place(std::int64_t at) { return Tensor::scalar(at); }

TEST(Interpreter, PadsAtEdgesAndBetween) {
  // The example of StableHLO's section on pad.
  const Tensor x = Tensor::from<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor padded = run_op(Op::pad, {x, Tensor::scalar<std::int32_t>(0)}, Pad{{0, 1}, {2, 1}, {1, 2}});
  EXPECT_EQ(to_string(padded.shape()), "i32[5,9]");
  EXPECT_EQ(values_of<std::int32_t>(padded), (Ints{0, 1, 0, 0, 2, 0, 0, 3, 0,  //
                                                   0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                                   0, 4, 0, 0, 5, 0, 0, 6, 0,  //
                                                   0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                                   0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Interpreter, CutsOffWhereEdgesAreNegative) {
  const Tensor mixed = pad(counting({2, 3}), 9, Pad{{1, -1}, {-1, 2}, {1, 2}});
  EXPECT_EQ(to_string(mixed.shape()), "f32[3,8]");
  EXPECT_EQ(values_of<float>(mixed), (Floats{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1, 9, 9, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(values_of<float>(pad(counting({5}), 9, Pad{{-2}, {-2}, {1}})), (Floats{1, 9, 2, 9, 3}));
  EXPECT_EQ(values_of<float>(pad(counting({3}), 9, Pad{{4}, {-2}, {}})), (Floats{9, 9, 9, 9, 0}));
  EXPECT_EQ(values_of<float>(pad(counting({3}), 9, Pad{{-5}, {7}, {1}})), Floats(7, 9));
  EXPECT_EQ(values_of<float>(pad(counting({4}), 9, Pad{{-4}, {3}, {0}})), Floats(3, 9));
}

TEST(Interpreter, PadsScalarsAndNothing) {
  EXPECT_EQ(values_of<float>(pad(counting({0}), 9, Pad{{1}, {2}, {5}})), Floats(3, 9));
  EXPECT_EQ(values_of<float>(pad(Tensor::scalar(3.0F), 9, Pad{})), Floats{3});
  EXPECT_EQ(values_of<float>(pad(counting({1}), 9, Pad{{0}, {0}, {std::numeric_limits<std::int64_t>::max()}})),
            Floats{0});
  EXPECT_EQ(pad(counting({2, 0}), 9, Pad{{1, 0}, {0, 0}, {0, 0}}).element_count(), 0);
}

TEST(Interpreter, Reverses) {
  EXPECT_EQ(values_of<float>(run_op(Op::reverse, {counting({2, 3})}, Axes{{1}})), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values_of<float>(run_op(Op::reverse, {counting({2, 3})}, Axes{{1, 0}})), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values_of<float>(run_op(Op::reverse, {counting({2, 3})}, Axes{})), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of<bool>(run_op(Op::reverse, {row<bool>({true, false, false})}, Axes{{0}})),
            (std::vector<bool>{false, false, true}));
  EXPECT_EQ(run_op(Op::reverse, {counting({0, 3})}, Axes{{0, 1}}).element_count(), 0);
}

TEST(Interpreter, SlicesAtClampedPlaces) {
  const Tensor x = counting({3, 4});
  const auto slice = [&](std::int64_t i, std::int64_t j, Dims sizes) {
    return values_of<float>(run_op(Op::dynamic_slice, {x, place(i), place(j)}, DynamicSlice{std::move(sizes)}));
  };
  EXPECT_EQ(slice(1, 2, {2, 2}), (Floats{6, 7, 10, 11}));
  EXPECT_EQ(slice(2, -1, {2, 2}), (Floats{4, 5, 8, 9}));
  EXPECT_EQ(slice(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), {1, 1}),
            Floats{3});
  EXPECT_EQ(slice(0, 0, {0, 4}), Floats{});
  const Tensor huge = Tensor::scalar(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(values_of<float>(run_op(Op::dynamic_slice, {counting({3}), huge}, DynamicSlice{{1}})), Floats{2});
  EXPECT_EQ(values_of<float>(run_op(Op::dynamic_slice, {Tensor::scalar(5.0F)}, DynamicSlice{})), Floats{5});
}

TEST(Interpreter, UpdatesSlicesAtClampedPlaces) {
  const auto updated = [](const Tensor& update, std::int64_t i, std::int64_t j) {
    return values_of<float>(run_op(Op::dynamic_update_slice, {counting({3, 4}), update, place(i), place(j)}));
  };
  const Tensor update = Tensor::from<float>({2, 2}, {-1, -2, -3, -4});
  EXPECT_EQ(updated(update, 2, -1), (Floats{0, 1, 2, 3, -1, -2, 6, 7, -3, -4, 10, 11}));
  EXPECT_EQ(updated(Tensor::zeros({DType::f32, {0, 2}}), 9, 9), values_of<float>(counting({3, 4})));
  EXPECT_EQ(values_of<float>(run_op(Op::dynamic_update_slice, {Tensor::scalar(1.0F), Tensor::scalar(2.0F)})),
            Floats{2});
}

TEST(Interpreter, ChecksNamedSizesOfUpdatesAtEachRun) {
  Builder b("cache");
  const Dim tokens = b.dim("tokens");
  const Value cache = b.parameter("cache", {DType::f32, {4}}), rows = b.parameter("rows", {DType::f32, {tokens}}),
              at = b.parameter("at", {DType::i32, {}});
  b.output("cache", b.dynamic_update_slice({cache, rows, at}));
  const Graph graph = b.finish();
  const Tensor two = Tensor::scalar<std::int32_t>(2);
  EXPECT_EQ(values_of<float>(
                interpret(graph, std::vector{counting({4}), row<float>({7, 8}), two}, base::Cancellation::never())[0]),
            (Floats{0, 1, 7, 8}));
  EXPECT_NE(refusal([&] {
              interpret(graph, std::vector{counting({4}), counting({5}), two}, base::Cancellation::never());
            }).find("the slice is larger than operand 0"),
            std::string::npos);
}

TEST(Interpreter, GivesTheExtentsOfAxes) {
  Builder b("rows");
  const Value x = b.parameter("x", {DType::f8e4m3fn, {b.dim("rows"), 3}});
  b.output("rows", b.dimension_size({x}, {.axis = 0}));
  b.output("columns", b.dimension_size({x}, {.axis = 1}));
  const std::vector<Tensor> results =
      interpret(b.finish(), std::vector{Tensor::zeros({DType::f8e4m3fn, {0, 3}})}, base::Cancellation::never());
  EXPECT_EQ(to_string(results[0].shape()), "i32[]");
  EXPECT_EQ(values_of<std::int32_t>(results[0]), Ints{0});
  EXPECT_EQ(values_of<std::int32_t>(results[1]), Ints{3});
}

TEST(Interpreter, ReshapesToExtentsThatMustAgree) {
  const auto reshaped = [](std::initializer_list<std::int64_t> extents) {
    return run_op(Op::dynamic_reshape, {counting({2, 3}), row<std::int64_t>(extents)}, Reshape{{3, 2}});
  };
  EXPECT_EQ(to_string(reshaped({3, 2}).shape()), "f32[3,2]");
  EXPECT_NE(refusal([&] {
              reshaped({2, 3});
            }).find("operand 1 does not have the extents of dims: f32[3,2]"),
            std::string::npos);
  const Tensor none = Tensor::zeros({DType::i32, {0}});
  EXPECT_EQ(to_string(run_op(Op::dynamic_reshape, {counting({1}), none}, Reshape{}).shape()), "f32[]");
}

TEST(Interpreter, KeepsOperandsOfBarriersAndCollectivesOfOneDevice) {
  const Tensor x = counting({2, 3}), y = row<std::int32_t>({4, 5});
  for (const Op op :
       {Op::optimization_barrier, Op::scheduling_barrier, Op::all_reduce, Op::all_gather, Op::all_to_all}) {
    Attributes attributes = NoAttributes{};
    if (op == Op::all_reduce) attributes = AllReduce{Reduction::sum, {{0}}};
    if (op == Op::all_gather) attributes = AllGather{};
    if (op == Op::all_to_all) attributes = AllToAll{};
    const std::vector<Tensor> results =
        interpret(graph_of(op, {x.shape(), y.shape()}, attributes), std::vector{x, y}, base::Cancellation::never());
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(values_of<float>(results[0]), values_of<float>(x));
    EXPECT_EQ(values_of<std::int32_t>(results[1]), values_of<std::int32_t>(y));
  }
  EXPECT_EQ(values_of<float>(run_op(Op::reduce_scatter, {x}, ReduceScatter{Reduction::max, 1, {}})),
            values_of<float>(x));
  EXPECT_EQ(values_of<float>(run_op(Op::collective_broadcast, {x}, CollectiveBroadcast{{{0}}})), values_of<float>(x));
  EXPECT_EQ(values_of<float>(run_op(Op::collective_permute, {x}, CollectivePermute{{{0, 0}}})), values_of<float>(x));
  EXPECT_EQ(values_of<float>(run_op(Op::collective_permute, {x}, CollectivePermute{})), Floats(6, 0));
  EXPECT_EQ(values_of<std::uint32_t>(run_op(Op::replica_id, {})), std::vector<std::uint32_t>{0});
  EXPECT_EQ(values_of<std::uint32_t>(run_op(Op::partition_id, {})), std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace alate::graph
