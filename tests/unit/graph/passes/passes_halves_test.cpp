// Norms, softmax, activations and attention of halves, as exporters write them: widened, computed in f32, rounded back.
#include "tests/unit/graph/passes/check_pass.h"

namespace alate::graph {
namespace {

Graph normalized(const Graph& graph, const IsNative& is_native = {}) {
  return run_passes(graph, standard_passes({.is_native = is_native}), nullptr);
}

TEST(NarrowFusions, MakesANormOfHalvesInText) {
  expect_pass([](const Graph& graph) { return narrow_fusions(graph); }, R"(graph "g" {
    dim "n" min 0
    @0 = "zero" : f32[] [0]
    %0 = parameter "x" : f32[n,4]
    %1 = parameter "scale" : f32[4]
    %2 = convert(%0) {dtype = bf16} : bf16[n,4]
    %3 = convert(%1) {dtype = bf16} : bf16[4]
    %4 = convert(%2) {dtype = f32} : f32[n,4]
    %5 = convert(%3) {dtype = f32} : f32[4]
    %6 = constant @0
    %7 = broadcast_in_dim(%6) {dims = [4], mapping = []} : f32[4]
    %8 = layer_norm(%4, %5, %7) {epsilon = 1e-05} : f32[n,4]
    %9 = convert(%8) {dtype = bf16} : bf16[n,4]
    %10 = convert(%9) {dtype = f32} : f32[n,4]
    output "y" = %10
  })",
              R"(graph "g" {
    dim "n" min 0
    @0 = "literal" : bf16[] [0]
    %0 = parameter "x" : f32[n,4]
    %1 = parameter "scale" : f32[4]
    %2 = convert(%0) {dtype = bf16} : bf16[n,4]
    %3 = convert(%1) {dtype = bf16} : bf16[4]
    %4 = constant @0
    %5 = broadcast_in_dim(%4) {dims = [4], mapping = []} : bf16[4]
    %6 = layer_norm(%2, %3, %5) {epsilon = 1e-05} : bf16[n,4]
    %7 = convert(%6) {dtype = f32} : f32[n,4]
    output "y" = %7
  })",
              0.02f);
}

TEST(NarrowFusions, MovesElementsOfHalvesAroundAttentionInText) {
  expect_pass([](const Graph& graph) { return narrow_fusions(graph); }, R"(graph "g" {
    %0 = parameter "x" : f32[2,3,5,4]
    %1 = convert(%0) {dtype = f16} : f16[2,3,5,4]
    %2 = convert(%1) {dtype = f32} : f32[2,3,5,4]
    %3 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[2,5,3,4]
    %4 = attention(%3, %3, %3) {scale = 0.5, has_lengths = false, has_bias = false, has_sinks = false, causal = true, window_left = -1, window_right = -1, soft_cap = 0} : f32[2,5,3,4]
    %5 = transpose(%4) {permutation = [0, 2, 1, 3]} : f32[2,3,5,4]
    %6 = convert(%5) {dtype = f16} : f16[2,3,5,4]
    %7 = convert(%6) {dtype = f32} : f32[2,3,5,4]
    output "y" = %7
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[2,3,5,4]
    %1 = convert(%0) {dtype = f16} : f16[2,3,5,4]
    %2 = transpose(%1) {permutation = [0, 2, 1, 3]} : f16[2,5,3,4]
    %3 = transpose(%1) {permutation = [0, 2, 1, 3]} : f16[2,5,3,4]
    %4 = transpose(%1) {permutation = [0, 2, 1, 3]} : f16[2,5,3,4]
    %5 = attention(%2, %3, %4) {scale = 0.5, has_lengths = false, has_bias = false, has_sinks = false, causal = true, window_left = -1, window_right = -1, soft_cap = 0} : f16[2,5,3,4]
    %6 = transpose(%5) {permutation = [0, 2, 1, 3]} : f16[2,3,5,4]
    %7 = convert(%6) {dtype = f32} : f32[2,3,5,4]
    output "y" = %7
  })",
              2e-3f);
}

TEST(NarrowFusions, LeavesAProductWithAWeightOfTheOtherHalfInText) {
  const std::string text = R"(graph "g" {
    %0 = parameter "x" : f32[2,4]
    %1 = parameter "w" : f32[3,4]
    %2 = convert(%0) {dtype = f16} : f16[2,4]
    %3 = convert(%2) {dtype = f32} : f32[2,4]
    %4 = convert(%1) {dtype = bf16} : bf16[3,4]
    %5 = dense(%3, %4) {has_bias = false, has_residual = false, activation = none} : f32[2,3]
    %6 = convert(%5) {dtype = f16} : f16[2,3]
    %7 = convert(%6) {dtype = f32} : f32[2,3]
    output "y" = %7
  })";
  expect_pass([](const Graph& graph) { return narrow_fusions(graph); }, text, text, 0);
}

TEST(NarrowFusions, MakesAProductOfHalvesWhereTheWeightIsOneInText) {
  expect_pass([](const Graph& graph) { return narrow_fusions(graph); }, R"(graph "g" {
    %0 = parameter "x" : f32[2,4]
    %1 = parameter "w" : f32[3,4]
    %2 = convert(%0) {dtype = bf16} : bf16[2,4]
    %3 = convert(%2) {dtype = f32} : f32[2,4]
    %4 = convert(%1) {dtype = bf16} : bf16[3,4]
    %5 = dense(%3, %4) {has_bias = false, has_residual = false, activation = none} : f32[2,3]
    %6 = convert(%5) {dtype = bf16} : bf16[2,3]
    %7 = convert(%6) {dtype = f32} : f32[2,3]
    output "y" = %7
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[2,4]
    %1 = parameter "w" : f32[3,4]
    %2 = convert(%0) {dtype = bf16} : bf16[2,4]
    %3 = convert(%1) {dtype = bf16} : bf16[3,4]
    %4 = dense(%2, %3) {has_bias = false, has_residual = false, activation = none} : bf16[2,3]
    %5 = convert(%4) {dtype = f32} : f32[2,3]
    output "y" = %5
  })",
              0);
}

TEST(SimplifyShapes, ConvertsBeforeItRepeatsInText) {
  expect_pass(simplify_shapes, R"(graph "g" {
    %0 = parameter "x" : f32[4]
    %1 = broadcast_in_dim(%0) {dims = [3, 4], mapping = [1]} : f32[3,4]
    %2 = convert(%1) {dtype = i32} : i32[3,4]
    %3 = convert(%2) {dtype = f32} : f32[3,4]
    output "y" = %3
  })",
              R"(graph "g" {
    %0 = parameter "x" : f32[4]
    %1 = convert(%0) {dtype = i32} : i32[4]
    %2 = convert(%1) {dtype = f32} : f32[4]
    %3 = broadcast_in_dim(%2) {dims = [3, 4], mapping = [1]} : f32[3,4]
    output "y" = %3
  })");
}

// A function of x [2, 5, 8] of halves, which is widened, and what the standard passes leave of it.
class Halves : public testing::TestWithParam<DType> {
 protected:
  Builder b{"g"};
  Dims dims = {2, 5, 8};
  Value x = b.parameter("x", {GetParam(), dims}), wide = widened(x);

  Value widened(Value value) { return b.convert({value}, {.dtype = DType::f32}); }
  Value rounded(Value value) { return b.convert({value}, {.dtype = GetParam()}); }
  Value row(const std::string& name, DType dtype) { return b.parameter(name, {dtype, {8}}); }
  Value mean(Value value) {
    const Value sum = reduce_keep(b, Op::reduce_sum, value, {2});
    return b.div({sum, scalar_like(b, 8, sum)});
  }
  Value repeated(Value rows) { return broadcast_to(b, rows, dims); }
  Value by_deviation(Value value) {
    const Value square = mean(b.mul({value, value}));
    return b.mul({value, repeated(b.rsqrt({b.add({square, scalar_like(b, 1e-6, square)})}))});
  }
  std::string left(Value y, const IsNative& is_native = {}) {
    b.output("y", y);
    const Graph before = b.finish(), after = normalized(before, is_native);
    std::vector<Tensor> inputs;
    for (const Parameter& parameter : before.parameters()) {
      const Tensor wave = waves({DType::f32, parameter.shape.dims}, static_cast<double>(inputs.size()));
      inputs.push_back(parameter.shape.dtype == DType::f32 ? wave : converted(wave));
    }
    const Tensor found = as_f32(interpret(after, inputs, base::Cancellation::never())[0]),
                 expected = as_f32(interpret(before, inputs, base::Cancellation::never())[0]);
    for (std::size_t i = 0; i < expected.values<float>().size(); ++i) {
      const float want = expected.values<float>()[i];
      EXPECT_NEAR(found.values<float>()[i], want, 0.01f * std::max(std::abs(want), 1.0f)) << "element " << i;
    }
    return op_names(after);
  }
  static Tensor converted(const Tensor& wave) { return run_op(Op::convert, {wave}, Convert{GetParam()}); }
  static Tensor as_f32(const Tensor& tensor) {
    return tensor.dtype() == DType::f32 ? tensor : run_op(Op::convert, {tensor}, Convert{DType::f32});
  }
};

TEST_P(Halves, TheRmsNormOfLlamaScalesWhatIsRounded) {
  const Value scale = repeated(row("scale", GetParam()));
  EXPECT_EQ(left(b.mul({scale, rounded(by_deviation(wide))})), "broadcast_in_dim rms_norm mul");
}
TEST_P(Halves, AnRmsNormThatIsScaledBeforeItIsRounded) {
  const Value scale = widened(repeated(row("scale", GetParam())));
  EXPECT_EQ(left(rounded(b.mul({by_deviation(wide), scale}))), "rms_norm");
}
TEST_P(Halves, AScaleOfMoreBitsStaysWide) {
  const Value scale = repeated(row("scale", DType::f32));
  EXPECT_EQ(left(rounded(b.mul({by_deviation(wide), scale}))), "convert rms_norm convert");
}
TEST_P(Halves, ALayerNormWithRowsOfHalves) {
  const Value centered = b.sub({wide, repeated(mean(wide))});
  const Value scaled = b.mul({by_deviation(centered), repeated(widened(row("scale", GetParam())))});
  EXPECT_EQ(left(rounded(b.add({scaled, repeated(widened(row("shift", GetParam())))}))), "layer_norm");
}
TEST_P(Halves, ASoftmaxInF32) {
  const Value largest = repeated(reduce_keep(b, Op::reduce_max, wide, {2})), power = b.exp({b.sub({wide, largest})});
  EXPECT_EQ(left(rounded(b.div({power, repeated(reduce_keep(b, Op::reduce_sum, power, {2}))}))), "softmax");
}
TEST_P(Halves, ASiluInF32) { EXPECT_EQ(left(rounded(b.mul({wide, b.logistic({wide})}))), "silu"); }
TEST_P(Halves, AnF32ResultThatSomebodyReads) {
  const Value y = b.mul({wide, b.logistic({wide})});
  b.output("wide", y);
  b.output("narrow", rounded(y));
  EXPECT_EQ(op_names(normalized(b.finish())), "convert silu convert");
}
TEST_P(Halves, AnOpThatTheBackendHasForF32Alone) {
  const IsNative only_f32 = [](const Graph& graph, const Node& node) {
    return graph.shape(node.operands[0]).dtype == DType::f32;
  };
  EXPECT_EQ(left(rounded(b.mul({wide, b.logistic({wide})})), only_f32), "convert silu convert");
}
TEST_P(Halves, ARotationByTablesOfMoreBits) {
  const Value heads = b.parameter("heads", {GetParam(), {2, 3, 8}});
  const Value cosines = b.parameter("cosines", {DType::f32, {2, 4}}),
              sines = b.parameter("sines", {DType::f32, {2, 4}});
  EXPECT_EQ(left(rounded(b.rope({widened(heads), cosines, sines}, {.has_positions = false}))), "rope");
}

std::string dtype_name(const testing::TestParamInfo<DType>& tested) { return std::string(to_string(tested.param)); }
INSTANTIATE_TEST_SUITE_P(OfBothKinds, Halves, testing::Values(DType::f16, DType::bf16), dtype_name);

}  // namespace
}  // namespace alate::graph
