// Shape inference: what it accepts, and what its errors say.
#include <gtest/gtest.h>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

Shape f32(Dims dims) { return {DType::f32, std::move(dims)}; }
Shape i32(Dims dims) { return {DType::i32, std::move(dims)}; }

std::string refusal_of(Op op, const std::vector<Shape>& shapes, Attributes attributes = NoAttributes{}) {
  return refusal([&] { graph_of(op, shapes, std::move(attributes)); });
}

Shape result_of(Op op, const std::vector<Shape>& shapes, Attributes attributes = NoAttributes{}) {
  const Graph graph = graph_of(op, shapes, std::move(attributes));
  return graph.shape(graph.outputs()[0].value);
}

TEST(InferShapes, NamesOpOperandsAndRule) {
  EXPECT_EQ(refusal_of(Op::add, {f32({2, 3}), f32({3, 2})}),
            "invalid_argument: add(f32[2,3], f32[3,2]): operand 1 must have the dtype and the dims of operand 0");
  EXPECT_EQ(refusal_of(Op::add, {f32({2}), i32({2})}),
            "invalid_argument: add(f32[2], i32[2]): operand 1 must have the dtype and the dims of operand 0");
}

TEST(InferShapes, NamesTheSource) {
  Builder b("g");
  b.set_source("encoder.layer.3");
  const Value x = b.parameter("x", f32({2}));
  EXPECT_EQ(refusal([&] { b.reshape({x}, {.dims = {3}}); }),
            "invalid_argument: reshape(f32[2]) (from encoder.layer.3): element counts differ: f32[3]");
}

TEST(InferShapes, RefusesDtypesThatTheRowDoesNotAllow) {
  EXPECT_EQ(refusal_of(Op::exp, {i32({2})}),
            "invalid_argument: exp(i32[2]): operand 0 has dtype i32, which this op does not take");
  EXPECT_EQ(refusal_of(Op::logical_not, {f32({2})}),
            "invalid_argument: logical_not(f32[2]): operand 0 has dtype f32, which this op does not take");
}

TEST(InferShapes, PutsComplexNumbersTogetherAndApart) {
  const Dim n = Dim(7);
  EXPECT_EQ(result_of(Op::complex, {f32({n}), f32({n})}), (Shape{DType::c64, {n}}));
  EXPECT_EQ(result_of(Op::abs, {{DType::c128, {n}}}), (Shape{DType::f64, {n}}));
  EXPECT_EQ(result_of(Op::real, {{DType::bf16, {n}}}), (Shape{DType::bf16, {n}}));
  EXPECT_EQ(refusal_of(Op::complex, {{DType::f16, {}}, {DType::f16, {}}}),
            "invalid_argument: complex(f16[], f16[]): operand 0 has dtype f16, which this op does not take");
  EXPECT_EQ(refusal_of(Op::conj, {f32({})}),
            "invalid_argument: conj(f32[]): operand 0 has dtype f32, which this op does not take");
  EXPECT_EQ(refusal_of(Op::less_total_order, {{DType::c64, {}}, {DType::c64, {}}}),
            "invalid_argument: less_total_order(c64[], c64[]): operand 0 has dtype c64, which this op does not take");
}

TEST(InferShapes, BitcastsNamedDims) {
  Builder b("bitcast");
  const Dim n = b.dim("n");
  const Value x = b.parameter("x", {DType::i16, {n, 2}});
  EXPECT_EQ(b.shape(b.bitcast({x}, {DType::f32})), f32({n}));
  EXPECT_EQ(b.shape(b.bitcast({x}, {DType::u4})), (Shape{DType::u4, {n, 2, 4}}));
  EXPECT_EQ(b.shape(b.bitcast({x}, {DType::bf16})), (Shape{DType::bf16, {n, 2}}));
  const Value y = b.parameter("y", {DType::i16, {2, n}});
  EXPECT_EQ(refusal([&] { b.bitcast({y}, {DType::f32}); }),
            "invalid_argument: bitcast(i16[2,n]): the last axis must be the 2 elements that make one of the result");
  EXPECT_NE(refusal_of(Op::bitcast, {{DType::u64, {INT64_MAX / 64}}}, Convert{DType::u1}).find("overflow"),
            std::string::npos);
}

TEST(InferShapes, RefusesWrongArityAndForeignAttributes) {
  EXPECT_NE(refusal_of(Op::add, {f32({2})}).find("takes 2 operands, not 1"), std::string::npos);
  EXPECT_NE(refusal_of(Op::add, {f32({2}), f32({2})}, Axis{}).find("attributes of another op"), std::string::npos);
}

TEST(InferShapes, TakesScalarsAndEmptyTensors) {
  EXPECT_EQ(result_of(Op::add, {f32({}), f32({})}), f32({}));
  EXPECT_EQ(result_of(Op::reshape, {f32({0, 7})}, Reshape{{3, 0}}), f32({3, 0}));
  EXPECT_EQ(result_of(Op::concatenate, {f32({0, 2}), f32({3, 2})}, Axis{0}), f32({3, 2}));
  EXPECT_EQ(result_of(Op::reduce_sum, {f32({0, 2})}, Axes{{0}}), f32({2}));
}

TEST(InferShapes, KeepsNamedDimsApart) {
  Builder b("g");
  const Dim tokens = b.dim("tokens"), sequences = b.dim("sequences");
  const Value x = b.parameter("x", f32({tokens, 12}));
  EXPECT_EQ(b.shape(b.reshape({x}, {.dims = {tokens, 3, 4}})), f32({tokens, 3, 4}));
  EXPECT_NE(refusal([&] {
              b.reshape({x}, {.dims = {sequences, 12}});
            }).find("element counts differ"),
            std::string::npos);
}

TEST(InferShapes, RefusesSizesThatOverflow) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_NE(refusal_of(Op::broadcast_in_dim, {f32({})}, BroadcastInDim{{huge, huge}, {}}), "accepted");
  EXPECT_NE(refusal_of(Op::iota, {}, Iota{DType::i32, {huge, huge}, 0}), "accepted");
}

TEST(InferShapes, FollowsStableHloInDotGeneral) {
  const DotGeneral dot{.lhs_batch = {0}, .rhs_batch = {1}, .lhs_contracting = {2}, .rhs_contracting = {0}};
  EXPECT_EQ(result_of(Op::dot_general, {f32({2, 3, 4}), f32({4, 2, 5})}, dot), f32({2, 3, 5}));
  EXPECT_NE(refusal_of(Op::dot_general, {f32({2, 3, 4}), f32({3, 2, 5})}, dot)
                .find("axis 2 of operand 0 is 4 but axis 0 of operand 1 is 3"),
            std::string::npos);
}

TEST(InferShapes, FollowsStableHloInGather) {
  // The example of the specification's section on gather, without batching dims.
  const Gather gather{.offset_dims = {2, 3},
                      .collapsed_slice_dims = {0},
                      .start_index_map = {1, 0},
                      .index_vector_dim = 2,
                      .slice_sizes = {1, 2, 2}};
  EXPECT_EQ(result_of(Op::gather, {i32({3, 4, 2}), i32({2, 3, 2})}, gather), i32({2, 3, 2, 2}));
  Gather large = gather;
  large.slice_sizes = {1, 5, 2};
  EXPECT_NE(
      refusal_of(Op::gather, {i32({3, 4, 2}), i32({2, 3, 2})}, large).find("slice_sizes[1] is larger than the axis"),
      std::string::npos);
}

TEST(InferShapes, ChecksHeadsOfAttention) {
  const auto attention = [](std::int64_t heads, std::int64_t kv_heads) {
    return refusal_of(Op::attention, {f32({1, 2, heads, 4}), f32({1, 3, kv_heads, 4}), f32({1, 3, kv_heads, 6})},
                      Attention{});
  };
  EXPECT_EQ(attention(6, 3), "accepted");
  EXPECT_NE(attention(4, 3).find("a multiple of those of operand 1"), std::string::npos);
  EXPECT_EQ(result_of(Op::attention, {f32({1, 2, 6, 4}), f32({1, 3, 3, 4}), f32({1, 3, 3, 6})}, Attention{}),
            f32({1, 2, 6, 6}));
}

TEST(InferShapes, AttentionKnowsTheLongestSequenceOnlyOfPackedOnes) {
  const Shape x = f32({5, 2, 4}), batch = f32({1, 5, 2, 4});
  const auto packed = [&](const Attention& attention, const Shape& bias) {
    return refusal_of(Op::ragged_attention, {x, x, x, i32({3}), i32({3}), bias}, attention);
  };
  EXPECT_EQ(packed({.has_bias = true, .longest = 4}, f32({3, 1, 4, 4})), "accepted");
  EXPECT_NE(packed({.has_bias = true, .longest = 5}, f32({3, 1, 4, 4})).find("longest, longest]"), std::string::npos);
  EXPECT_NE(packed({.has_bias = true}, f32({3, 1, 0, 0})).find("longest must be a dim"), std::string::npos);
  EXPECT_NE(packed({.has_bias = true, .longest = Dim::of_id(7)}, f32({3, 1, 4, 4})).find("not in the dim table"),
            std::string::npos);
  EXPECT_NE(
      packed({.has_bias = true, .has_sinks = true, .longest = 4}, f32({3, 1, 4, 4})).find("as the attributes say"),
      std::string::npos);
  EXPECT_NE(refusal_of(Op::attention, {batch, batch, batch}, Attention{.longest = 5}).find("longest must not be given"),
            std::string::npos);
}

TEST(InferShapes, GivesAttentionAGradientForEachOfItsFloats) {
  const std::vector<Shape> operands = {f32({1, 2, 6, 4}), f32({1, 3, 3, 4}), f32({1, 3, 3, 5}),
                                       i32({1}),          f32({1, 1, 2, 3}), f32({6})};
  const Attention all{.has_lengths = true, .has_bias = true, .has_sinks = true};
  const auto with_gradient = [&](const Shape& gradient) {
    std::vector<Shape> shapes = operands;
    shapes.push_back(gradient);
    return shapes;
  };
  const Graph graph = graph_of(Op::attention_gradient, with_gradient(f32({1, 2, 6, 5})), all);
  std::vector<Shape> expected = operands;
  expected.erase(expected.begin() + 3);
  EXPECT_EQ(graph.nodes().back().results, expected);
  EXPECT_NE(refusal_of(Op::attention_gradient, with_gradient(f32({1, 2, 6, 4})), all)
                .find("the last operand, the gradient, must have the shape of attention's result"),
            std::string::npos);
  EXPECT_NE(refusal_of(Op::attention_gradient, operands, all).find("then the gradient of the result"),
            std::string::npos);
}

TEST(InferShapes, WantsTheOperandsThatTheFlagsOfDenseName) {
  EXPECT_EQ(result_of(Op::dense, {f32({2, 3}), f32({5, 3}), f32({5}), f32({2, 5})},
                      Dense{.has_bias = true, .has_residual = true}),
            f32({2, 5}));
  EXPECT_NE(refusal_of(Op::dense, {f32({2, 3}), f32({5, 3}), f32({5})}, Dense{}), "accepted");
  EXPECT_NE(refusal_of(Op::dense, {f32({2, 3}), f32({5, 4})}, Dense{}).find("operand 1, weight, must be [out, in]"),
            std::string::npos);
}

TEST(InferShapes, DenseOfF32TakesWeightsOfHalves) {
  for (const DType half : {DType::bf16, DType::f16}) {
    const Shape weight{half, {5, 3}};
    EXPECT_EQ(result_of(Op::dense, {f32({2, 3}), weight, f32({5})}, Dense{.has_bias = true}), f32({2, 5}));
    EXPECT_EQ(result_of(Op::dense, {Shape{half, {2, 3}}, weight}, Dense{}), (Shape{half, {2, 5}}));
    EXPECT_NE(refusal_of(Op::dense, {f32({2, 3}), weight, {half, {5}}}, Dense{.has_bias = true}).find("bias"),
              std::string::npos);
    EXPECT_NE(refusal_of(Op::dense, {Shape{DType::f64, {2, 3}}, weight}, Dense{}).find("beside f32 also bf16 or f16"),
              std::string::npos);
  }
  EXPECT_NE(refusal_of(Op::dense, {Shape{DType::f16, {2, 3}}, Shape{DType::bf16, {5, 3}}}, Dense{}), "accepted");
}

TEST(InferShapes, ChecksTheSignaturesOfRegions) {
  Builder b("loop");
  const auto region = [&](DType result) {
    Builder r("region", b.dims());
    const Value x = r.parameter("x", {DType::f32, {}});
    r.output("y", result == DType::boolean ? r.less({x, r.scalar(DType::f32, 9)}) : r.add({x, x}));
    return std::make_shared<const Graph>(r.finish());
  };
  const Value x = b.parameter("x", {DType::f32, {}});
  EXPECT_NE(refusal([&] { b.while_loop({x}, region(DType::f32), region(DType::f32)); }).find("one scalar bool"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { b.while_loop({x}, region(DType::boolean), region(DType::f32)); }), "accepted");
}

TEST(Verify, WantsAliasesOfDonatableParametersOfTheSameShape) {
  const auto aliased = [](bool donatable, Dims dims) {
    return refusal([&] {
      Builder b("g");
      const Value x = b.parameter("x", f32(dims), donatable);
      b.output("y", b.neg({b.reshape({x}, {.dims = {6}})}), 0);
      b.finish();
    });
  };
  EXPECT_EQ(aliased(true, {6}), "accepted");
  EXPECT_NE(aliased(false, {6}).find("not donatable"), std::string::npos);
  EXPECT_NE(aliased(true, {2, 3}).find("of another shape"), std::string::npos);
}

TEST(Verify, WantsOneAliasOfAParameter) {
  Builder b("g");
  const Value x = b.parameter("x", f32({6}), true);
  b.output("y", b.neg({x}), 0);
  b.output("z", b.exp({x}), 0);
  EXPECT_NE(refusal([&] { b.finish(); }).find("two outputs alias parameter 'x'"), std::string::npos);
  Builder beyond("g");
  beyond.output("y", beyond.neg({beyond.parameter("x", f32({6}), true)}), 1);
  EXPECT_NE(refusal([&] { beyond.finish(); }).find("not donatable"), std::string::npos);
}

TEST(Verify, WantsNoAliasesInRegions) {
  Builder b("g");
  const Value x = b.parameter("x", f32({6}));
  Builder inner("region", b.dims());
  inner.output("y", inner.neg({inner.parameter("x", f32({6}), true)}), 0);
  const Region region = std::make_shared<const Graph>(inner.finish());
  b.output("y", b.call({x}, region).front());
  EXPECT_NE(refusal([&] { b.finish(); }).find("call has a region whose output 'y' aliases a parameter"),
            std::string::npos);
}

TEST(Fingerprint, ChangesWithWhatDecidesTheResultsAndWithNothingElse) {
  const auto graph = [](const char* name, const char* source, double factor) {
    Builder b(name);
    b.set_source(source);
    const Value x = b.parameter("x", f32({2}));
    b.output("y", b.mul({x, scalar_like(b, factor, x)}));
    return b.finish().fingerprint();
  };
  EXPECT_EQ(graph("a", "here", 2), graph("b", "there", 2));
  EXPECT_NE(graph("a", "here", 2), graph("a", "here", 3));
}

}  // namespace
}  // namespace alate::graph
