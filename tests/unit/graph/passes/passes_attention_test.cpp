// Attention and rotary embeddings as exporters write them out.
#include <limits>

#include "graph/decompose.h"
#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Graph normalized(const Graph& graph) {
  return run_passes(graph,
                    {{"sink_transposes", sink_transposes},
                     {"simplify_shapes", simplify_shapes},
                     {"eliminate_common_subexpressions", eliminate_common_subexpressions},
                     {"fuse_rope", [](const Graph& g) { return fuse_rope(g); }},
                     {"fuse_attention", [](const Graph& g) { return fuse_attention(g); }},
                     {"eliminate_dead_nodes", eliminate_dead_nodes},
                     {"simplify_shapes", simplify_shapes},
                     {"eliminate_dead_nodes", eliminate_dead_nodes}},
                    nullptr);
}

TEST(FuseAttention, MakesItOfTwoProductsInText) {
  expect_pass([](const Graph& graph) { return fuse_attention(graph); }, R"(graph "g" {
    dim "b" min 0
    dim "q" min 0
    @0 = "scale" : f32[] [0.5]
    %0 = parameter "q" : f32[b,2,q,4]
    %1 = parameter "k" : f32[b,2,5,4]
    %2 = parameter "v" : f32[b,2,5,3]
    %3 = dot_general(%0, %1) {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contracting = [3], rhs_contracting = [3]} : f32[b,2,q,5]
    %4 = constant @0
    %5 = broadcast_in_dim(%4) {dims = [b, 2, q, 5], mapping = []} : f32[b,2,q,5]
    %6 = mul(%3, %5) : f32[b,2,q,5]
    %7 = softmax(%6) {axis = 3} : f32[b,2,q,5]
    %8 = dot_general(%7, %2) {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contracting = [3], rhs_contracting = [2]} : f32[b,2,q,3]
    output "y" = %8
  })",
              R"(graph "g" {
    dim "b" min 0
    dim "q" min 0
    %0 = parameter "q" : f32[b,2,q,4]
    %1 = parameter "k" : f32[b,2,5,4]
    %2 = parameter "v" : f32[b,2,5,3]
    %3 = transpose(%0) {permutation = [0, 2, 1, 3]} : f32[b,q,2,4]
    %4 = transpose(%1) {permutation = [0, 2, 1, 3]} : f32[b,5,2,4]
    %5 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[b,5,2,3]
    %6 = attention(%3, %4, %5) {scale = 0.5, has_lengths = false, has_bias = false, has_sinks = false, causal = false, window_left = -1, window_right = -1, soft_cap = 0} : f32[b,q,2,3]
    %7 = transpose(%6) {permutation = [0, 2, 1, 3]} : f32[b,2,q,3]
    output "y" = %7
  })",
              2e-6f);
}

// Query, key and value [2, length, heads, 4] as models make them, and what is left of attention over them.
class FuseAttentionOf : public testing::Test {
 protected:
  Builder b{"g"};
  Value q = b.parameter("q", {DType::f32, {2, 5, 6, 4}}), k = b.parameter("k", {DType::f32, {2, 7, 6, 4}}),
        v = b.parameter("v", {DType::f32, {2, 7, 6, 3}});

  Value heads_first(Value x) { return b.transpose({x}, {.permutation = {0, 2, 1, 3}}); }
  Value scores(Value key) {
    const Value turned = b.transpose({key}, {.permutation = {0, 2, 3, 1}});  // [b, h, width, keys], as torch has it
    return b.dot_general({heads_first(q), turned},
                         {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contracting = {3}, .rhs_contracting = {2}});
  }
  Value times(Value x, double number) { return b.mul({x, scalar_like(b, number, x)}); }
  Value mixed(Value masked, Value value) {
    const Value y =
        b.dot_general({b.softmax({masked}, {.axis = 3}), heads_first(value)},
                      {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contracting = {3}, .rhs_contracting = {2}});
    return heads_first(y);
  }
  std::string left(Value y) {
    b.output("y", y);
    const Graph before = b.finish();
    after = normalized(before);
    expect_same_outputs(before, after, wave_inputs(before), 2e-6f);
    return op_names(after);
  }
  const Attention& attributes() const {
    for (const Node& node : after.nodes()) {
      if (node.op == Op::attention) return std::get<Attention>(node.attributes);
    }
    throw std::runtime_error("no attention in the graph");
  }
  Graph after;
};

TEST_F(FuseAttentionOf, HeadsThatWereTransposedAndBack) {
  EXPECT_EQ(left(mixed(times(scores(k), 0.25), v)), "attention");
  EXPECT_EQ(attributes().scale, 0.25);
}
TEST_F(FuseAttentionOf, ADivisorAsScaleAndAnAddedMaskOfAllHeads) {
  const Value mask = b.parameter("mask", {DType::f32, {2, 1, 1, 7}});
  const Value s = scores(k), scaled = b.div({s, scalar_like(b, 2, s)});
  EXPECT_EQ(left(mixed(b.add({broadcast_to(b, mask, b.shape(s).dims), scaled}), v)), "broadcast_in_dim attention");
  EXPECT_EQ(attributes().scale, 0.5);
}
TEST_F(FuseAttentionOf, AMaskThatIsSelected) {
  for (const double hidden : {-kInfinity, -3.4028234663852886e38}) {
    b = Builder("g");
    q = b.parameter("q", {DType::f32, {2, 5, 6, 4}});
    k = b.parameter("k", {DType::f32, {2, 7, 6, 4}});
    v = b.parameter("v", {DType::f32, {2, 7, 6, 3}});
    const Value place = b.iota({}, {.dtype = DType::i32, .dims = {5, 7}, .axis = 0}),
                key = b.iota({}, {.dtype = DType::i32, .dims = {5, 7}, .axis = 1});
    const Value s = times(scores(k), 0.5);
    const Value seen = broadcast_to(b, b.less_or_equal({key, place}), b.shape(s).dims);
    const std::string ops = left(mixed(b.select({seen, s, scalar_like(b, hidden, s)}), v));
    EXPECT_TRUE(ops.ends_with("select attention")) << ops;
    EXPECT_EQ(ops.find("softmax"), std::string::npos);
  }
}
TEST_F(FuseAttentionOf, RowsThatSeeNothingAndAreMadeZeros) {
  const Value place = b.iota({}, {.dtype = DType::i32, .dims = {5, 7}, .axis = 0}),
              key = b.iota({}, {.dtype = DType::i32, .dims = {5, 7}, .axis = 1});
  const Value s = scores(k);
  const Value seen = broadcast_to(b, b.less({key, place}), b.shape(s).dims);  // the first place sees no key
  const Value weights = b.softmax({b.select({seen, s, scalar_like(b, -kInfinity, s)})}, {.axis = 3});
  const Value guarded = b.select({b.is_nan({weights}), scalar_like(b, 0, weights), weights});
  const Value y =
      b.dot_general({guarded, heads_first(v)},
                    {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}, .lhs_contracting = {3}, .rhs_contracting = {2}});
  EXPECT_TRUE(left(heads_first(y)).ends_with("select attention"));
}
TEST_F(FuseAttentionOf, ASelectedNumberThatIsNotLowEnough) {
  const Value s = scores(k);
  const Value seen = b.greater({s, scalar_like(b, 0, s)});
  EXPECT_EQ(left(mixed(b.select({seen, s, scalar_like(b, -1e4, s)}), v)).find("attention"), std::string::npos);
}
TEST_F(FuseAttentionOf, ASoftCap) {
  EXPECT_EQ(left(mixed(times(b.tanh({times(scores(k), 0.125)}), 4), v)), "attention");
  EXPECT_EQ(attributes().soft_cap, 4);
  EXPECT_EQ(attributes().scale, 0.5);
}
TEST_F(FuseAttentionOf, HeadsThatAreRepeatedForGroups) {
  const auto repeated = [&](const std::string& name, std::int64_t width) {
    const Value few = b.parameter(name, {DType::f32, {2, 7, 3, width}});
    const Value wide = b.broadcast_in_dim({few}, {.dims = {2, 7, 3, 2, width}, .mapping = {0, 1, 2, 4}});
    return b.reshape({wide}, {.dims = {2, 7, 6, width}});
  };
  const Value few_keys = repeated("few k", 4), few_values = repeated("few v", 3);
  EXPECT_EQ(left(mixed(scores(few_keys), few_values)), "attention");
}
TEST_F(FuseAttentionOf, HeadsAndBatchInOneAxis) {
  const Value rows = b.parameter("rows", {DType::f32, {b.dim("n"), 5, 4}});
  const Value s =
      b.dot_general({rows, rows}, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {2}});
  const Value y = b.dot_general({b.softmax({times(s, 0.5)}, {.axis = 2}), rows},
                                {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {1}});
  EXPECT_EQ(left(y), "reshape reshape reshape attention reshape");
}
TEST_F(FuseAttentionOf, WhatDecompositionWritesOutAgain) {
  const Value s = scores(k);
  b.output("y", mixed(s, v));
  const Graph before = b.finish();
  const Graph native = fuse_attention(before, [](const Graph&, const Node&) { return false; });
  EXPECT_EQ(op_names(eliminate_dead_nodes(native)), op_names(before));  // a backend without a kernel keeps its softmax
}

// x [2, heads, length, 8] and tables, as decoders rotate them.
class FuseRopeOf : public testing::Test {
 protected:
  Builder b{"g"};
  Value x = b.parameter("x", {DType::f32, {2, 3, 5, 8}});
  Value angles = b.parameter("angles", {DType::f32, {2, 5, 4}});

  Value part(Value value, std::int64_t start, std::int64_t limit, std::int64_t stride = 1) {
    const Dims dims = b.shape(value).dims;
    Slice slice{.starts = Dims(dims.size(), 0), .limits = dims, .strides = Numbers(dims.size(), 1)};
    slice.starts.back() = start;
    slice.limits.back() = limit;
    slice.strides.back() = stride;
    return b.slice({value}, std::move(slice));
  }
  Value over_heads(Value table) {
    Dims dims = b.shape(table).dims;
    dims.insert(dims.begin() + 1, 1);
    const Value split = b.reshape({table}, {.dims = dims});
    dims[1] = 3;
    return broadcast_to(b, split, dims);
  }
  std::string left(Value y) {
    b.output("y", y);
    const Graph before = b.finish();
    after = normalized(before);
    expect_same_outputs(before, after, wave_inputs(before), 2e-6f);
    return op_names(after);
  }
  bool is_interleaved() const {
    for (const Node& node : after.nodes()) {
      if (node.op == Op::rope) return std::get<Rope>(node.attributes).interleaved;
    }
    throw std::runtime_error("no rope in the graph");
  }
  Graph after;
};

TEST_F(FuseRopeOf, RotatedHalvesWithAnglesTwice) {
  const Value twice = b.concatenate({angles, angles}, {.axis = 2});
  const Value rotated = b.concatenate({b.neg({part(x, 4, 8)}), part(x, 0, 4)}, {.axis = 3});
  const Value y = b.add({b.mul({x, over_heads(b.cos({twice}))}), b.mul({rotated, over_heads(b.sin({twice}))})});
  EXPECT_EQ(left(y), "concatenate cos sin slice slice transpose rope transpose");
  EXPECT_FALSE(is_interleaved());
}
TEST_F(FuseRopeOf, TablesWhoseHalvesMayDiffer) {
  const Value cosines = b.parameter("cos", {DType::f32, {2, 5, 8}});
  const Value rotated = b.concatenate({b.neg({part(x, 4, 8)}), part(x, 0, 4)}, {.axis = 3});
  const Value y = b.add({b.mul({x, over_heads(cosines)}), b.mul({rotated, over_heads(cosines)})});
  EXPECT_EQ(left(y).find("rope"), std::string::npos);
}
TEST_F(FuseRopeOf, HalvesOfAPartOfTheWidth) {
  const Value narrow = part(angles, 0, 3), c = over_heads(b.cos({narrow})), s = over_heads(b.sin({narrow}));
  const Value low = part(x, 0, 3), high = part(x, 3, 6);
  const Value y = b.concatenate(
      {b.sub({b.mul({low, c}), b.mul({high, s})}), b.add({b.mul({low, s}), b.mul({c, high})}), part(x, 6, 8)},
      {.axis = 3});
  EXPECT_EQ(left(y), "slice cos sin transpose rope transpose");
}
TEST_F(FuseRopeOf, InterleavedPairs) {
  const Value c = over_heads(b.cos({angles})), s = over_heads(b.sin({angles}));
  const Value even = part(x, 0, 8, 2), odd = part(x, 1, 8, 2);
  const auto column = [&](Value value) { return b.reshape({value}, {.dims = {2, 3, 5, 4, 1}}); };
  const Value pairs = b.concatenate(
      {column(b.sub({b.mul({even, c}), b.mul({odd, s})})), column(b.add({b.mul({odd, c}), b.mul({even, s})}))},
      {.axis = 4});
  EXPECT_EQ(left(b.reshape({pairs}, {.dims = {2, 3, 5, 8}})), "cos sin transpose rope transpose");
  EXPECT_TRUE(is_interleaved());
}
TEST_F(FuseRopeOf, WhatDecompositionWritesOut) {
  for (const bool interleaved : {false, true}) {
    b = Builder("g");
    const Value heads = b.parameter("x", {DType::f32, {b.dim("tokens"), 3, 8}});
    const Value table = b.parameter("table", {DType::f32, {b.dim("tokens"), 4}});
    b.output("y",
             b.rope({heads, b.cos({table}), b.sin({table})}, {.has_positions = false, .interleaved = interleaved}));
    const Graph plain = decompose(b.finish(), [](const Graph&, const Node&) { return false; });
    after = normalized(plain);
    EXPECT_EQ(op_names(after), "cos sin rope");
    EXPECT_EQ(is_interleaved(), interleaved);
    expect_same_outputs(plain, after, wave_inputs(plain), 2e-6f);
  }
}
TEST_F(FuseRopeOf, NothingWhereABackendHasNoKernel) {
  const Value c = over_heads(b.cos({angles})), s = over_heads(b.sin({angles}));
  const Value low = part(x, 0, 4), high = part(x, 4, 8);
  b.output("y", b.concatenate({b.sub({b.mul({low, c}), b.mul({high, s})}), b.add({b.mul({low, s}), b.mul({c, high})})},
                              {.axis = 3}));
  const Graph before = b.finish();
  const Graph same = fuse_rope(before, [](const Graph&, const Node&) { return false; });
  EXPECT_EQ(op_names(eliminate_dead_nodes(same)), op_names(before));
}

}  // namespace
}  // namespace alate::graph
