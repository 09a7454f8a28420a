#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

TEST(SimplifyShapes, MakesOneMovementOfTwoInText) {
  expect_pass(simplify_shapes, R"(graph "g" {
    dim "n" min 0
    %0 = parameter "x" : f32[n,6]
    %1 = reshape(%0) {dims = [n, 2, 3]} : f32[n,2,3]
    %2 = reshape(%1) {dims = [n, 3, 2]} : f32[n,3,2]
    %3 = transpose(%2) {permutation = [2, 0, 1]} : f32[2,n,3]
    %4 = transpose(%3) {permutation = [1, 0, 2]} : f32[n,2,3]
    %5 = transpose(%4) {permutation = [0, 1, 2]} : f32[n,2,3]
    output "y" = %5
  })",
              R"(graph "g" {
    dim "n" min 0
    %0 = parameter "x" : f32[n,6]
    %1 = reshape(%0) {dims = [n, 3, 2]} : f32[n,3,2]
    %2 = transpose(%1) {permutation = [0, 2, 1]} : f32[n,2,3]
    output "y" = %2
  })");
}

class SimplifyShapesOf : public testing::Test {
 protected:
  Builder b{"g"};
  Value x = b.parameter("x", {DType::f32, {2, 3}});

  std::string left(Value y) {
    b.output("y", y);
    const Graph before = b.finish(), after = eliminate_dead_nodes(simplify_shapes(before));
    expect_same_outputs(before, after, wave_inputs(before), 0);
    return op_names(after);
  }
};

TEST_F(SimplifyShapesOf, TransposesThatCancel) {
  EXPECT_EQ(left(b.transpose({b.transpose({x}, {.permutation = {1, 0}})}, {.permutation = {1, 0}})), "");
}
TEST_F(SimplifyShapesOf, TransposesOfThreeAxesThatDoNot) {
  const Value wide = b.reshape({x}, {.dims = {1, 2, 3}});
  EXPECT_EQ(left(b.transpose({b.transpose({wide}, {.permutation = {2, 0, 1}})}, {.permutation = {2, 0, 1}})),
            "reshape transpose");
}
TEST_F(SimplifyShapesOf, ReshapesBackToTheSameShape) {
  EXPECT_EQ(left(b.reshape({b.reshape({x}, {.dims = {6}})}, {.dims = {2, 3}})), "");
}
TEST_F(SimplifyShapesOf, BroadcastsOfBroadcastsAndOfAddedOnes) {
  const Value wide =
      b.broadcast_in_dim({b.reshape({x}, {.dims = {2, 1, 3}})}, {.dims = {2, 4, 3}, .mapping = {0, 1, 2}});
  EXPECT_EQ(left(b.broadcast_in_dim({wide}, {.dims = {3, 5, 2, 4}, .mapping = {2, 3, 0}})), "broadcast_in_dim");
}
TEST_F(SimplifyShapesOf, ATransposeOfABroadcast) {
  const Value wide = b.broadcast_in_dim({x}, {.dims = {2, 4, 3}, .mapping = {0, 2}});
  EXPECT_EQ(left(b.transpose({wide}, {.permutation = {2, 0, 1}})), "broadcast_in_dim");
}
TEST_F(SimplifyShapesOf, BroadcastsToTheSameShape) {
  EXPECT_EQ(left(b.broadcast_in_dim({x}, {.dims = {2, 3}, .mapping = {0, 1}})), "");
}
TEST_F(SimplifyShapesOf, AReshapeOfARepeatedScalar) {
  const Value ones = b.broadcast_in_dim({b.scalar(DType::f32, 1)}, {.dims = {6}, .mapping = {}});
  EXPECT_EQ(left(b.add({x, b.reshape({ones}, {.dims = {2, 3}})})), "broadcast_in_dim add");
}
TEST_F(SimplifyShapesOf, SlicesPadsAndConcatenatesOfTheWhole) {
  const Value sliced = b.slice({x}, {.starts = {0, 0}, .limits = {2, 3}, .strides = {1, 1}});
  const Value padded = b.pad({sliced, b.scalar(DType::f32, 1)}, {.low = {0, 0}, .high = {0, 0}, .interior = {}});
  EXPECT_EQ(left(b.concatenate({padded}, {.axis = 1})), "");
}
TEST_F(SimplifyShapesOf, SlicesOfEverySecondPlace) {
  EXPECT_EQ(left(b.slice({x}, {.starts = {0, 0}, .limits = {2, 3}, .strides = {1, 2}})), "slice");
}
TEST_F(SimplifyShapesOf, ReversesThatCancelOrHaveNothingToReverse) {
  const Value twice = b.reverse({b.reverse({x}, {.axes = {1}})}, {.axes = {1}});
  EXPECT_EQ(left(b.reverse({twice}, {.axes = {}})), "");
}
TEST_F(SimplifyShapesOf, BitcastsToTheSameType) { EXPECT_EQ(left(b.bitcast({x}, {.dtype = DType::f32})), ""); }

TEST(SinkTransposes, MovesThemDownToWhereTheyCancelInText) {
  const auto passes = [](const Graph& graph) { return simplify_shapes(sink_transposes(graph)); };
  expect_pass(passes, R"(graph "g" {
    @0 = "two" : f32[] [2]
    %0 = parameter "x" : f32[2,3]
    %1 = parameter "row" : f32[2]
    %2 = constant @0
    %3 = transpose(%0) {permutation = [1, 0]} : f32[3,2]
    %4 = broadcast_in_dim(%1) {dims = [3, 2], mapping = [1]} : f32[3,2]
    %5 = add(%3, %4) : f32[3,2]
    %6 = broadcast_in_dim(%2) {dims = [3, 2], mapping = []} : f32[3,2]
    %7 = mul(%5, %6) : f32[3,2]
    %8 = exp(%7) : f32[3,2]
    %9 = transpose(%8) {permutation = [1, 0]} : f32[2,3]
    output "y" = %9
  })",
              R"(graph "g" {
    @0 = "two" : f32[] [2]
    %0 = parameter "x" : f32[2,3]
    %1 = parameter "row" : f32[2]
    %2 = broadcast_in_dim(%1) {dims = [2, 3], mapping = [0]} : f32[2,3]
    %3 = add(%0, %2) : f32[2,3]
    %4 = constant @0
    %5 = broadcast_in_dim(%4) {dims = [2, 3], mapping = []} : f32[2,3]
    %6 = mul(%3, %5) : f32[2,3]
    %7 = exp(%6) : f32[2,3]
    output "y" = %7
  })");
}

class SinkTransposesOf : public testing::Test {
 protected:
  Builder b{"g"};
  Value x = b.parameter("x", {DType::f32, {2, 3, 4}}), y = b.parameter("y", {DType::f32, {2, 3, 4}});

  std::string left(Value result) {
    b.output("result", result);
    const Graph before = b.finish(), after = eliminate_dead_nodes(sink_transposes(before));
    expect_same_outputs(before, after, wave_inputs(before), 1e-6f);
    return op_names(after);
  }
  Value moved(Value value) { return b.transpose({value}, {.permutation = {1, 2, 0}}); }
};

TEST_F(SinkTransposesOf, TwoOperandsMovedAlike) { EXPECT_EQ(left(b.add({moved(x), moved(y)})), "add transpose"); }
TEST_F(SinkTransposesOf, TwoOperandsMovedDifferently) {
  const Value other = b.reshape({b.transpose({y}, {.permutation = {2, 1, 0}})}, {.dims = {3, 4, 2}});
  EXPECT_EQ(left(b.add({moved(x), other})), "transpose reshape transpose add");
}
TEST_F(SinkTransposesOf, ATransposeThatIsReadTwice) {
  const Value once = moved(x);
  EXPECT_EQ(left(b.add({b.exp({once}), b.tanh({once})})), "transpose exp tanh add");
}
TEST_F(SinkTransposesOf, AConstantOfTheWholeShape) {
  const Value weights = b.constant(waves({DType::f32, {3, 4, 2}}, 5));
  const Value sum = b.add({moved(x), weights});
  EXPECT_EQ(left(sum), "transpose add transpose");  // the first is of the constant, and folded
}
TEST_F(SinkTransposesOf, ReshapesOfBoth) {
  const auto flat = [&](Value value) { return b.reshape({value}, {.dims = {6, 4}}); };
  EXPECT_EQ(left(b.exp({b.mul({flat(x), flat(y)})})), "mul exp reshape");
}
TEST_F(SinkTransposesOf, ASelectWithAScalarCondition) {
  const Value condition = b.greater({b.scalar(DType::f32, 1), b.scalar(DType::f32, 0)});
  EXPECT_EQ(left(b.select({condition, moved(x), moved(y)})), "greater select transpose");
}
TEST_F(SinkTransposesOf, OperandsOfAProduct) {
  const Value q = b.transpose({x}, {.permutation = {1, 0, 2}}), k = b.transpose({y}, {.permutation = {1, 2, 0}});
  const Value product =
      b.dot_general({q, k}, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {1}});
  EXPECT_EQ(left(product), "dot_general");
}
TEST_F(SinkTransposesOf, ProductsWhoseFreeAxesWouldSwap) {
  const Value q = b.transpose({x}, {.permutation = {1, 0, 2}});
  const Value product =
      b.dot_general({q, b.parameter("w", {DType::f32, {4, 5}})},
                    {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {2}, .rhs_contracting = {0}});
  EXPECT_EQ(left(product), "transpose dot_general");
}

TEST(ChooseConvolutionLayout, PutsTransposesAroundThatCancelBetweenConvolutions) {
  for (const auto layout : {ConvolutionLayout::features_first, ConvolutionLayout::features_last}) {
    const bool starts_last = layout == ConvolutionLayout::features_first;
    Builder b("g");
    Convolution same{.padding_low = {1, 1},
                     .padding_high = {1, 1},
                     .input_spatial = {2, 3},
                     .kernel_spatial = {2, 3},
                     .output_spatial = {2, 3}};
    if (starts_last) {
      same.input_feature = same.output_feature = 3;
      same.input_spatial = same.output_spatial = {1, 2};
    }
    const Value x = b.parameter("x", {DType::f32, starts_last ? Dims{2, 5, 6, 3} : Dims{2, 3, 5, 6}});
    const Value kernel = b.parameter("kernel", {DType::f32, {3, 3, 3, 3}});
    const Value bias = b.parameter("bias", {DType::f32, {3}});
    Value y = b.conv_general({x, kernel}, same);
    y = b.add({y, b.broadcast_in_dim({bias}, {.dims = b.shape(y).dims, .mapping = {starts_last ? 3 : 1}})});
    b.output("y", b.conv_general({b.max({y, scalar_like(b, 0, y)}), kernel}, same));
    const Graph before = b.finish();
    const Graph after = run_passes(
        before,
        {{"choose_convolution_layout", [&](const Graph& graph) { return choose_convolution_layout(graph, layout); }},
         {"sink_transposes", sink_transposes},
         {"simplify_shapes", simplify_shapes},
         {"eliminate_dead_nodes", eliminate_dead_nodes}},
        nullptr);
    EXPECT_EQ(op_names(after),
              "transpose conv_general broadcast_in_dim add broadcast_in_dim max conv_general transpose");
    expect_same_outputs(before, after, wave_inputs(before), 1e-5f);
    EXPECT_EQ(print_graph(choose_convolution_layout(after, layout)), print_graph(after));
  }
}

}  // namespace
}  // namespace alate::graph
