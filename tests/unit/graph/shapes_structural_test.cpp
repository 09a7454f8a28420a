// Shape inference of ops that slice, pad, scatter, reduce, sort and communicate with other devices.
#include <limits>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Shape f32(Dims dims) { return {DType::f32, std::move(dims)}; }
Shape i32(Dims dims) { return {DType::i32, std::move(dims)}; }

Shape result_of(Op op, const std::vector<Shape>& shapes, Attributes attributes = NoAttributes{}) {
  const Graph graph = graph_of(op, shapes, std::move(attributes));
  return graph.shape(graph.outputs()[0].value);
}

// Expects that the error for these operands has `part` in it.
void expect_refused(std::string_view part, Op op, const std::vector<Shape>& shapes,
                    Attributes attributes = NoAttributes{}) {
  const std::string found = refusal([&] { graph_of(op, shapes, std::move(attributes)); });
  EXPECT_NE(found.find(part), std::string::npos) << found << "\nhas not: " << part;
}

TEST(InferShapes, ChecksPadding) {
  EXPECT_EQ(result_of(Op::pad, {f32({3, 0}), f32({})}, Pad{{1, 2}, {-2, 0}, {1, 9}}), f32({4, 2}));
  expect_refused("operand 1, the padding, must be a scalar of operand 0's dtype", Op::pad, {f32({3}), i32({})},
                 Pad{{0}, {0}, {}});
  expect_refused("must have an entry for each axis", Op::pad, {f32({3}), f32({})}, Pad{{0}, {}, {}});
  expect_refused("axis 0 of operand 0: interior must not be negative", Op::pad, {f32({3}), f32({})},
                 Pad{{0}, {0}, {-1}});
  expect_refused("axis 0 of operand 0: low and high cut off more than there is", Op::pad, {f32({3}), f32({})},
                 Pad{{-2}, {-2}, {}});
  for (const Pad& huge : {Pad{{kMost}, {kMost}, {}}, Pad{{0}, {0}, {kMost}}, Pad{{-kMost - 1}, {kMost}, {}},
                          Pad{{-kMost - 1}, {-kMost - 1}, {}}, Pad{{kMost}, {-1}, {}}}) {
    expect_refused("overflows", Op::pad, {f32({3}), f32({})}, huge);
  }
}

TEST(InferShapes, PadsNamedDims) {
  Builder b("g");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", f32({n, 2})), zero = b.scalar(DType::f32, 0);
  EXPECT_EQ(b.shape(b.pad({x, zero}, {.low = {0, 1}, .high = {0, 0}, .interior = {}})), f32({n, 3}));
  const auto padded = [&](std::int64_t low, std::int64_t high, std::int64_t interior) {
    return b.dims()->to_string(
        b.shape(b.pad({x, zero}, {.low = {low, 0}, .high = {high, 0}, .interior = {interior, 0}})));
  };
  EXPECT_EQ(padded(1, 2, 0), "f32[n+3,2]");
  EXPECT_EQ(padded(3, -2, 0), "f32[n+1,2]");
  EXPECT_EQ(padded(0, 0, 1), "f32[n+max(0,n-1),2]");
  EXPECT_NE(refusal([&] { padded(-1, 0, 0); }).find("low and high cut off more than there is"), std::string::npos);
}

TEST(InferShapes, JoinsCutsAndReshapesNamedDims) {
  Builder b("g");
  const Dim n = b.dim("n", 2), m = b.dim("m");
  const Value x = b.parameter("x", f32({n, 4})), y = b.parameter("y", f32({m, 4}));
  const auto text = [&](Value value) { return b.dims()->to_string(b.shape(value)); };
  const Value both = b.concatenate({x, y, x}, {.axis = 0});
  EXPECT_EQ(text(both), "f32[2*n+m,4]");
  const Dim whole = b.shape(both).dims[0];
  EXPECT_EQ(text(b.slice({both}, {.starts = {n, 0}, .limits = {whole, 4}, .strides = {}})), "f32[n+m,4]");
  EXPECT_EQ(text(b.slice({x}, {.starts = {1, 0}, .limits = {n, 4}, .strides = {2, 1}})), "f32[n/2,4]");
  EXPECT_NE(refusal([&] {
              b.slice({x}, {.starts = {m, 0}, .limits = {n, 4}, .strides = {}});
            }).find("start m must not be above limit n, and their bounds do not prove it"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              b.slice({x}, {.starts = {1, 0}, .limits = {b.dims()->of(b.dims()->form(m) + 1), 4}, .strides = {}});
            }).find("limit m+1 may be past the end"),
            std::string::npos);
  const Dim flat = b.dims()->of(b.dims()->form(whole) * 4);
  EXPECT_EQ(text(b.reshape({both}, {.dims = {flat}})), "f32[8*n+4*m]");
  const Value square = b.parameter("square", f32({whole, whole}));
  const Dim area = b.dims()->of(b.dims()->product(b.dims()->form(whole), b.dims()->form(whole)));
  EXPECT_EQ(b.shape(b.reshape({square}, {.dims = {area}})), f32({area}));
  EXPECT_NE(refusal([&] { b.reshape({both}, {.dims = {n, 8}}); }).find("element counts differ"), std::string::npos);
}

TEST(InferShapes, ChecksDynamicSlices) {
  EXPECT_EQ(result_of(Op::dynamic_slice, {f32({3, 4}), i32({}), i32({})}, DynamicSlice{{2, 0}}), f32({2, 0}));
  expect_refused("needs an operand to slice", Op::dynamic_slice, {}, DynamicSlice{});
  expect_refused("needs a place for each of the 2 axes of operand 0: 3 operands, not 2", Op::dynamic_slice,
                 {f32({3, 4}), i32({})}, DynamicSlice{{2, 2}});
  expect_refused("operand 1 must be an integer scalar", Op::dynamic_slice, {f32({3}), f32({})}, DynamicSlice{{2}});
  expect_refused("operand 2 must be an integer scalar, of one dtype", Op::dynamic_slice,
                 {f32({3, 3}), i32({}), {DType::i64, {}}}, DynamicSlice{{2, 2}});
  expect_refused("slice_sizes[0] is 4, larger than axis 0 of operand 0, which is 3", Op::dynamic_slice,
                 {f32({3}), i32({})}, DynamicSlice{{4}});
  expect_refused("axis 0 of operand 1 is 4, larger than axis 0 of operand 0, which is 3", Op::dynamic_update_slice,
                 {f32({3}), f32({4}), i32({})});
  expect_refused("operand 1 must have operand 0's dtype and rank", Op::dynamic_update_slice,
                 {f32({3}), f32({}), i32({})});
  expect_refused("axis 2 is outside the rank 2 of operand 0", Op::dimension_size, {f32({1, 2})}, Axis{2});
  expect_refused("past the largest i32", Op::dimension_size, {f32({std::int64_t{1} << 31})}, Axis{0});
  expect_refused("operand 1 must be 2 integers", Op::dynamic_reshape, {f32({6}), i32({3})}, Reshape{{2, 3}});
  expect_refused("element counts differ", Op::dynamic_reshape, {f32({6}), i32({2})}, Reshape{{2, 2}});
}

TEST(InferShapes, ChecksBatchingInGather) {
  const Gather good{.offset_dims = {},
                    .collapsed_slice_dims = {1},
                    .start_index_map = {1},
                    .index_vector_dim = 1,
                    .slice_sizes = {1, 1},
                    .operand_batching_dims = {0},
                    .start_indices_batching_dims = {0}};
  const std::vector<Shape> shapes{f32({3, 4}), i32({3})};
  EXPECT_EQ(result_of(Op::gather, shapes, good), f32({3}));
  Gather wrong = good;
  wrong.start_indices_batching_dims = {};
  expect_refused("start_indices_batching_dims must name a different axis of operand 1", Op::gather, shapes, wrong);
  wrong = good;
  wrong.start_index_map = {0};
  expect_refused("start_index_map and operand_batching_dims must name different axes", Op::gather, shapes, wrong);
  wrong = good;
  wrong.collapsed_slice_dims = {0};
  expect_refused("collapsed_slice_dims and operand_batching_dims must be different axes", Op::gather, shapes, wrong);
  wrong = good;
  wrong.slice_sizes = {2, 1};
  expect_refused("slice_sizes[0] must be 1", Op::gather, shapes, wrong);
  expect_refused("batching axis 0 of operand 0 is 3 but axis 0 of operand 1 is 5", Op::gather, {f32({3, 4}), i32({5})},
                 good);
}

TEST(InferShapes, ChecksScatter) {
  const Scatter good{.update_window_dims = {1},
                     .inserted_window_dims = {0},
                     .input_batching_dims = {},
                     .scatter_indices_batching_dims = {},
                     .scatter_dims_to_operand_dims = {0},
                     .index_vector_dim = 1};
  const std::vector<Shape> shapes{f32({4, 2}), i32({5}), f32({5, 2})};
  EXPECT_EQ(result_of(Op::scatter_sum, shapes, good), f32({4, 2}));
  expect_refused("operand 2 must have the dtype of operand 0", Op::scatter_set, {f32({4, 2}), i32({5}), i32({5, 2})},
                 good);
  expect_refused("operand 1 must be integers", Op::scatter_set, {f32({4, 2}), f32({5}), f32({5, 2})}, good);
  expect_refused("operand 0 has a dtype that this op does not take", Op::scatter_max,
                 {{DType::boolean, {4, 2}}, i32({5}), {DType::boolean, {5, 2}}}, good);
  expect_refused("operand 2 without update_window_dims is f32[6], but operand 1 has index vectors i32[5]",
                 Op::scatter_sum, {f32({4, 2}), i32({5}), f32({6, 2})}, good);
  expect_refused("axis 1 of operand 2 is 3, larger than axis 1 of operand 0, which is 2", Op::scatter_sum,
                 {f32({4, 2}), i32({5}), f32({5, 3})}, good);
  Scatter wrong = good;
  wrong.inserted_window_dims = {};
  expect_refused("update_window_dims must have an entry for each axis", Op::scatter_sum, shapes, wrong);
  wrong = good;
  wrong.index_vector_dim = -1;
  expect_refused("index_vector_dim is outside the rank of operand 1", Op::scatter_sum, shapes, wrong);
}

TEST(InferShapes, ChecksPlacesAndK) {
  EXPECT_EQ(result_of(Op::arg_min_max, {f32({3, 0, 2})}, ArgMinMax{1, DType::u8, true}), (Shape{DType::u8, {3, 2}}));
  expect_refused("axis 1 is outside the rank 1 of operand 0", Op::arg_min_max, {f32({3})}, ArgMinMax{1});
  expect_refused("dtype must be an integer's", Op::arg_min_max, {f32({3})}, ArgMinMax{0, DType::f32});
  expect_refused("the last place along an axis of 129 does not fit into i8", Op::arg_min_max, {f32({129})},
                 ArgMinMax{0, DType::i8});
  EXPECT_EQ(result_of(Op::arg_min_max, {f32({128})}, ArgMinMax{0, DType::i8}), (Shape{DType::i8, {}}));
  expect_refused("axis 0 is outside the rank 0 of operand 0", Op::cumulative_sum, {f32({})}, Cumulative{});
  expect_refused("k is 4, larger than axis 1 of operand 0, which is 3", Op::top_k, {f32({2, 3})}, TopK{4});
  expect_refused("k must not be negative", Op::top_k, {f32({2, 3})}, TopK{-1});
  expect_refused("operand 0 needs a last axis", Op::top_k, {f32({})}, TopK{0});
}

TEST(InferShapes, SaysThatOneDeviceIsAllThereIs) {
  const auto refused = [](Op op, Attributes attributes) {
    return refusal([&] { graph_of(op, {f32({2})}, std::move(attributes)); });
  };
  EXPECT_EQ(
      refused(Op::all_reduce, AllReduce{Reduction::sum, {{0, 1}}}),
      "unsupported: all_reduce(f32[2]): replica_groups must be empty or [[0]], because a graph runs on one device");
  EXPECT_TRUE(refused(Op::all_gather, AllGather{0, {{0}, {1}}}).starts_with("unsupported: all_gather"));
  EXPECT_TRUE(refused(Op::all_to_all, AllToAll{0, 0, 2, {}}).starts_with("unsupported: all_to_all"));
  EXPECT_TRUE(refused(Op::reduce_scatter, ReduceScatter{Reduction::sum, 0, {{}}}).starts_with("unsupported"));
  EXPECT_TRUE(refused(Op::collective_permute, CollectivePermute{{{0, 1}}}).starts_with("unsupported"));
  EXPECT_TRUE(refused(Op::collective_broadcast, CollectiveBroadcast{{{1}}}).starts_with("unsupported"));
  EXPECT_NE(refused(Op::all_reduce, AllReduce{Reduction::logical_and, {}})
                .find("operand 0 has dtype f32, of which there is no logical_and"),
            std::string::npos);
  EXPECT_NE(refused(Op::all_gather, AllGather{1, {}}).find("axis 1 is outside the rank 1 of operand 0"),
            std::string::npos);
}

TEST(InferShapes, ChecksRegionsOverScalars) {
  Builder b("g");
  const auto region = [&](std::size_t parameters, DType dtype, Op op) {
    Builder r("region", b.dims());
    std::vector<Value> p;
    for (std::size_t i = 0; i < parameters; ++i) p.push_back(r.parameter("p" + std::to_string(i), {dtype, {}}));
    r.output("o", r.emit(op, {p.at(0), p.at(1)}, NoAttributes{}).front());
    return std::make_shared<const Graph>(r.finish());
  };
  const Value x = b.parameter("x", f32({2, 3})), y = b.parameter("y", f32({3})), zero = b.scalar(DType::f32, 0);
  const Region less = region(2, DType::f32, Op::less), add = region(2, DType::f32, Op::add);
  const auto expect = [](const auto& action, std::string_view part) {
    const std::string found = refusal(action);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  EXPECT_EQ(refusal([&] { b.sort({x}, {.axis = 1}, less); }), "accepted");
  expect([&] { b.sort({x}, {.axis = 2}, less); }, "axis 2 is outside the rank 2 of operand 0");
  expect([&] { b.sort({x, y}, {}, less); }, "operand 1 must have the dims of operand 0");
  expect([&] { b.sort({x, x}, {}, less); }, "must have a parameter for each of 4 values, but has 2");
  expect([&] { b.sort({x}, {}, region(2, DType::i32, Op::less)); },
         "parameter 0 of the region is i32[], the value f32[]");
  expect([&] { b.sort({x}, {}, add); }, "must give one scalar bool: (bool[]), not (f32[])");
  expect([&] { b.sort({}, {}, less); }, "needs at least one operand");
  expect([&] { b.emit(Op::sort, {x}, Sort{}, {}); }, "needs the region that compares");
  EXPECT_EQ(b.shape(b.reduce({x, zero}, {{0}}, add)[0]), f32({3}));
  expect([&] { b.reduce({x}, {{0}}, add); }, "needs inputs, and for each a scalar to begin with");
  expect([&] { b.reduce({x, y}, {{0}}, add); }, "operand 1, to begin with, must be a scalar of the dtype of operand 0");
  expect([&] { b.reduce({x, zero}, {{2}}, add); }, "axes must be different axes of operand 0");
  expect([&] { b.reduce({x, zero}, {{0}}, less); }, "must give a scalar for each input: (f32[]), not (bool[])");
  expect([&] { b.call({x, y}, add); }, "parameter 0 of the region is f32[], the value f32[2,3]");
}

TEST(InferShapes, RefusesResultsThatCannotBeCounted) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Gather outer{.offset_dims = {1},
                     .collapsed_slice_dims = {},
                     .start_index_map = {0},
                     .index_vector_dim = 1,
                     .slice_sizes = {huge}};
  expect_refused("the number of elements of the result f32[1099511627776,1099511627776] overflows", Op::gather,
                 {f32({huge}), i32({huge})}, outer);
  expect_refused("overflows", Op::dot_general, {f32({huge}), f32({huge})}, DotGeneral{});
  expect_refused("overflows", Op::broadcast_in_dim, {f32({})}, BroadcastInDim{{0, huge, huge}, {}});
  expect_refused("overflows", Op::reverse, {f32({0, huge, huge})}, Axes{});
}

}  // namespace
}  // namespace alate::graph
