#include "exchange/stablehlo.h"

#include <limits>
#include <sstream>

#include "graph/decompose.h"
#include "tests/unit/graph/make_tensors.h"
#include "tests/unit/graph/run_op.h"

namespace alate::exchange {
namespace {

using graph::Axes;
using graph::Builder;
using graph::DimValues;
using graph::Graph;
using graph::Op;
using graph::Region;
using graph::Value;

// The lines of @main but the last, without the spaces before them, of a graph without named dims.
std::string body_of(const Graph& graph) {
  const std::string text = write_stablehlo(graph, DimValues(graph.dims())).text;
  const std::size_t begin = text.find(" {\n", text.find("@main")) + 3, end = text.rfind("    \"func.return\"");
  std::istringstream lines(text.substr(begin, end - begin));
  std::string body, line;
  while (std::getline(lines, line)) body += line.substr(line.find_first_not_of(' ')) + "\n";
  return body;
}

std::string constant_text(Tensor tensor) {
  Builder b("constant");
  b.output("constant", b.constant(std::move(tensor)));
  const std::string text = body_of(b.finish());
  const std::size_t begin = text.find("dense<");
  return text.substr(begin, text.find('}') - begin);
}

TEST(StableHlo, GivesTheExtentsOfReshapesAsResults) {
  Builder b("reshape");
  const Value x = b.parameter("x", {DType::f32, {6}}), extents = b.parameter("extents", {DType::i32, {2}});
  b.set_source("layer");
  b.output("y", b.dynamic_reshape({x, extents}, {.dims = {3, 2}}));
  const Graph graph = b.finish();
  EXPECT_TRUE(write_stablehlo(graph, DimValues(graph.dims())).checks.empty());
  const StableHloModule module = write_stablehlo(graph, DimValues(graph.dims()), {.extents_as_results = true});
  EXPECT_NE(module.text.find("-> (tensor<3x2xf32>, tensor<2xi32>)"), std::string::npos) << module.text;
  ASSERT_EQ(module.checks.size(), 1U);
  EXPECT_EQ(module.checks[0].extents, (std::vector<std::int64_t>{3, 2}));
  require_extents(module.checks[0], Tensor::from<std::int32_t>({2}, {3, 2}));
  require_extents(module.checks[0], Tensor::from<std::int64_t>({2}, {3, 2}));
  for (const Tensor& wrong : {Tensor::from<std::int32_t>({2}, {2, 3}), Tensor::from<std::int32_t>({1}, {3})}) {
    const std::string message = graph::refusal([&] { require_extents(module.checks[0], wrong); });
    EXPECT_NE(message.find("dynamic_reshape of layer: operand 1 is ["), std::string::npos) << message;
  }
}

TEST(StableHlo, WritesAModuleOfOneFunction) {
  Builder b("model");
  const Dim tokens = b.dim("tokens");
  const Value x = b.parameter("x", {DType::f32, {tokens, 2}}, true), y = b.parameter("y", {DType::f32, {tokens, 2}});
  b.output("difference", b.sub({x, y}));
  b.output("sum", b.add({x, y}), 0);
  const Graph graph = b.finish();
  DimValues dims(graph.dims());
  dims.set(tokens.id(), 3, "test");
  EXPECT_EQ(write_stablehlo(graph, dims).text,
            "module @alate {\n"
            "  func.func public @main(%parameter0: tensor<3x2xf32> {tf.aliasing_output = 1 : i32}, "
            "%parameter1: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {\n"
            "    %0 = \"stablehlo.subtract\"(%parameter0, %parameter1) : (tensor<3x2xf32>, tensor<3x2xf32>) -> "
            "tensor<3x2xf32>\n"
            "    %1 = \"stablehlo.add\"(%parameter0, %parameter1) : (tensor<3x2xf32>, tensor<3x2xf32>) -> "
            "tensor<3x2xf32>\n"
            "    \"func.return\"(%0, %1) : (tensor<3x2xf32>, tensor<3x2xf32>) -> ()\n"
            "  }\n"
            "}\n");
}

TEST(StableHlo, WritesConstantsByTheirBits) {
  EXPECT_EQ(constant_text(Tensor::from<float>({2}, {1, -0.0F})), "dense<[0x3F800000, 0x80000000]> : tensor<2xf32>");
  EXPECT_EQ(constant_text(Tensor::from<float>(
                {2, 1}, {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})),
            "dense<[[0x7FC00000], [0xFF800000]]> : tensor<2x1xf32>");
  EXPECT_EQ(constant_text(Tensor::from<double>({3}, {0.5, 0.5, 0.5})), "dense<0x3FE0000000000000> : tensor<3xf64>");
  EXPECT_EQ(constant_text(Tensor::from<std::int64_t>({2}, {std::numeric_limits<std::int64_t>::min(), 7})),
            "dense<[-9223372036854775808, 7]> : tensor<2xi64>");
  EXPECT_EQ(constant_text(Tensor::from<std::uint8_t>({2}, {255, 0})), "dense<[255, 0]> : tensor<2xui8>");
  EXPECT_EQ(constant_text(Tensor::from<bool>({2}, {true, false})), "dense<[true, false]> : tensor<2xi1>");
  EXPECT_EQ(constant_text(Tensor::zeros({DType::c64, {}})), "dense<(0x00000000, 0x00000000)> : tensor<complex<f32>>");
  EXPECT_EQ(constant_text(Tensor::zeros({DType::f16, {0, 2}})), "dense<> : tensor<0x2xf16>");
  EXPECT_EQ(constant_text(Tensor::zeros({DType::i4, {3}})), "dense<0> : tensor<3xi4>");
}

TEST(StableHlo, MakesArgumentsOfLargeConstants) {
  const graph::ConstantPtr weight = graph::make_constant("weight", Tensor::zeros({DType::f32, {8}}));
  const auto dims = std::make_shared<graph::DimTable>();
  Builder body("body", dims), condition("condition", dims), b("model", dims);
  const Value inside = body.parameter("x", {DType::f32, {8}});
  body.output("x", body.add({inside, body.constant(weight)}));
  condition.parameter("x", {DType::f32, {8}});
  condition.output("go on", condition.scalar(DType::boolean, 0));
  const Value x = b.parameter("x", {DType::f32, {8}});
  b.output("y", b.while_loop({b.mul({x, b.constant(weight)})}, std::make_shared<const Graph>(condition.finish()),
                             std::make_shared<const Graph>(body.finish()))[0]);
  const Graph graph = b.finish();
  const StableHloModule module = write_stablehlo(graph, DimValues(graph.dims()), {.inline_constant_bytes = 31});
  EXPECT_EQ(module.constants, std::vector{weight});
  EXPECT_NE(module.text.find("@main(%parameter0: tensor<8xf32>, %constant0: tensor<8xf32>)"), std::string::npos);
  EXPECT_NE(module.text.find("\"stablehlo.multiply\"(%parameter0, %constant0)"), std::string::npos) << module.text;
  EXPECT_NE(module.text.find("\"stablehlo.add\"(%3, %constant0)"), std::string::npos) << module.text;
  EXPECT_TRUE(write_stablehlo(graph, DimValues(graph.dims()), {.inline_constant_bytes = 32}).constants.empty());
}

TEST(StableHlo, WritesAReductionWithItsBody) {
  EXPECT_EQ(body_of(graph_of(Op::reduce_max, {{DType::i8, {2, 3}}}, Axes{{1}})),
            "%0 = \"stablehlo.constant\"() {value = dense<-128> : tensor<i8>} : () -> tensor<i8>\n"
            "%4 = \"stablehlo.reduce\"(%parameter0, %0) ({\n"
            "^bb0(%1: tensor<i8>, %2: tensor<i8>):\n"
            "%3 = \"stablehlo.maximum\"(%1, %2) : (tensor<i8>, tensor<i8>) -> tensor<i8>\n"
            "\"stablehlo.return\"(%3) : (tensor<i8>) -> ()\n"
            "}) {dimensions = array<i64: 1>} : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>\n");
}

TEST(StableHlo, SumsHalvesInSingles) {
  const std::string text = body_of(
      graph_of(Op::dot_general, {{DType::f16, {2, 3}}, {DType::f16, {3, 2}}}, graph::DotGeneral{{}, {}, {1}, {0}}));
  EXPECT_EQ(text,
            "%0 = \"stablehlo.dot_general\"(%parameter0, %parameter1) {dot_dimension_numbers = "
            "#stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = "
            "[1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, "
            "#stablehlo<precision HIGHEST>]} : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf32>\n"
            "%1 = \"stablehlo.convert\"(%0) : (tensor<2x2xf32>) -> tensor<2x2xf16>\n");
}

// Three places: each takes in the one before it, then the one two before it.
TEST(StableHlo, SumsUpToEachPlaceInLogarithmicallyManySteps) {
  EXPECT_EQ(body_of(graph_of(Op::cumulative_sum, {{DType::i32, {3}}}, graph::Cumulative{0, false, false})),
            "%0 = \"stablehlo.constant\"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>\n"
            "%1 = \"stablehlo.pad\"(%parameter0, %0) {edge_padding_low = array<i64: 1>, edge_padding_high = "
            "array<i64: -1>, interior_padding = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>\n"
            "%2 = \"stablehlo.add\"(%parameter0, %1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>\n"
            "%3 = \"stablehlo.pad\"(%2, %0) {edge_padding_low = array<i64: 2>, edge_padding_high = array<i64: -2>, "
            "interior_padding = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>\n"
            "%4 = \"stablehlo.add\"(%2, %3) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>\n");
}

// Branches read what is around them, loops take their values.
TEST(StableHlo, WritesRegionsInPlace) {
  const auto dims = std::make_shared<graph::DimTable>();
  const auto branch = [&](bool is_negated) {
    Builder b("branch", dims);
    const Value x = b.parameter("x", {DType::f32, {}});
    b.output("y", is_negated ? b.neg({x}) : x);
    return std::make_shared<const Graph>(b.finish());
  };
  Builder b("if", dims);
  const Value chosen = b.parameter("chosen", {DType::boolean, {}}), x = b.parameter("x", {DType::f32, {}});
  b.output("y", b.if_else({chosen, x}, branch(true), branch(false))[0]);
  EXPECT_EQ(body_of(b.finish()),
            "%1 = \"stablehlo.if\"(%parameter0) ({\n"
            "%0 = \"stablehlo.negate\"(%parameter1) : (tensor<f32>) -> tensor<f32>\n"
            "\"stablehlo.return\"(%0) : (tensor<f32>) -> ()\n"
            "}, {\n"
            "\"stablehlo.return\"(%parameter1) : (tensor<f32>) -> ()\n"
            "}) : (tensor<i1>) -> tensor<f32>\n");
}

// XLA multiplies by the inverse of what it sees to be constant or repeated, which rounds twice.
TEST(StableHlo, HidesDivisorsThatXlaWouldInvert) {
  Builder b("division");
  const Value x = b.parameter("x", {DType::f32, {2}}), two = b.constant(Tensor::from<float>({2}, {3, 7}));
  b.output("quotient", b.div({x, two}));
  const Graph graph = b.finish();
  EXPECT_NE(body_of(graph).find("%1 = \"stablehlo.optimization_barrier\"(%0)"), std::string::npos) << body_of(graph);
  const StableHloModule coarse = write_stablehlo(graph, DimValues(graph.dims()), {.exact_division = false});
  EXPECT_EQ(coarse.text.find("barrier"), std::string::npos);
  EXPECT_EQ(body_of(graph_of(Op::div, {{DType::f32, {2}}, {DType::f32, {2}}})),
            "%0 = \"stablehlo.divide\"(%parameter0, %parameter1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n");
}

TEST(StableHlo, WritesNothingForOpsThatGiveTheirOperand) {
  EXPECT_EQ(body_of(graph_of(Op::identity, {{DType::f32, {2}}})), "");
  EXPECT_EQ(body_of(graph_of(Op::all_reduce, {{DType::f32, {2}}}, graph::AllReduce{})), "");
  EXPECT_EQ(body_of(graph_of(Op::abs, {{DType::u8, {2}}})), "");
}

TEST(StableHlo, ComputesNothingForResultsWithoutElements) {
  EXPECT_EQ(body_of(graph_of(Op::neg, {{DType::f32, {2, 0}}})),
            "%0 = \"stablehlo.constant\"() {value = dense<> : tensor<2x0xf32>} : () -> tensor<2x0xf32>\n");
}

std::string refused(const Graph& graph) {
  return graph::refusal([&] { write_stablehlo(graph, DimValues(graph.dims())); });
}

TEST(StableHlo, SaysWhatItRefusesAndWhy) {
  EXPECT_EQ(refused(graph_of(Op::silu, {{DType::f32, {2}}})),
            "unsupported: silu cannot be written as StableHLO: fused ops are decomposed first");
  EXPECT_EQ(refused(graph_of(Op::reverse, {{DType::u1, {8}}}, Axes{{0}})),
            "unsupported: parameter cannot be written as StableHLO: StableHLO has no type for u1");
  Builder b("named");
  b.output("y", b.neg({b.parameter("x", {DType::f32, {b.dim("tokens")}})}));
  EXPECT_EQ(refused(b.finish()), "invalid_argument: dim 'tokens' has no value: no input has it");
}

TEST(StableHlo, NamesTheSpellingOfANode) {
  const Graph graph = graph_of(Op::sub, {{DType::f32, {2}}, {DType::f32, {2}}});
  EXPECT_EQ(supports_stablehlo(graph, graph.nodes().back()).spelling, "subtract");
  EXPECT_TRUE(supports_stablehlo(graph, graph.nodes().back()).is_supported());
}

}  // namespace
}  // namespace alate::exchange
