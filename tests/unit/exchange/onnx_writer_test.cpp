// The bytes of written ONNX models. tests/golden/check_onnx.py checks that a runtime computes the right results with
// them.
#include "exchange/onnx_writer.h"

#include <algorithm>
#include <string>

#include "exchange/protobuf_writer.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/exchange/protobuf_fields.h"
#include "tests/unit/graph/run_op.h"

namespace alate::exchange {
namespace {

using graph::Builder;
using graph::Graph;

// Field numbers of ONNX's messages.
constexpr std::uint32_t kIrVersion = 1, kGraph = 7, kOpset = 8, kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12;

std::vector<std::string> operators(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const ProtobufField& node : fields_of(field_at(model.bytes, {kGraph}).bytes, kNode))
    names.emplace_back(field_at(node.bytes, {4}).bytes);
  return names;
}

Graph sum_of_two(Shape shape, const std::shared_ptr<graph::DimTable>& dims = nullptr) {
  Builder b("sum", dims);
  const graph::Value x = b.parameter("x", shape), y = b.parameter("y", shape);
  b.output("z", b.add({x, y}));
  return b.finish();
}

TEST(ProtobufWriter, WritesTheFormatsOwnExamples) {
  // https://protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2, both in a message.
  ProtobufWriter integer, text, outer;
  integer.integer(1, 150);
  EXPECT_EQ(integer.view(), "\x08\x96\x01");
  text.bytes(2, "testing");
  EXPECT_EQ(text.view(), "\x12\x07testing");
  outer.message(3, integer);
  EXPECT_EQ(outer.view(), "\x1a\x03\x08\x96\x01");
}

TEST(ProtobufWriter, WritesNegativeIntegersInTenBytes) {
  ProtobufWriter writer;
  writer.integer(1, -1);
  EXPECT_EQ(writer.view(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtobufWriter, WritesFloatsLowBytesFirst) {
  ProtobufWriter writer;
  writer.single(2, 1.0F);
  EXPECT_EQ(writer.view(), std::string("\x15\x00\x00\x80\x3f", 5));
}

TEST(OnnxWriter, SaysVersionsAndOpset) {
  const Graph graph = sum_of_two({DType::f32, {2}});
  for (const auto& [opset, ir] : {std::pair{18, 8U}, {20, 9U}, {21, 10U}, {26, 13U}}) {
    const OnnxModel model = write_onnx(graph, {.opset = opset});
    EXPECT_EQ(field_at(model.bytes, {kIrVersion}).integer, ir);
    EXPECT_EQ(field_at(model.bytes, {kOpset, 2}).integer, static_cast<unsigned>(opset));
  }
}

TEST(OnnxWriter, RefusesOpsetsThatItDoesNotKnow) {
  const Graph graph = sum_of_two({DType::f32, {2}});
  for (const int opset : {17, 27}) {
    const Error error = base::error_of([&] { write_onnx(graph, {.opset = opset}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("opset " + std::to_string(opset)), std::string::npos);
  }
}

TEST(OnnxWriter, KeepsNamesAndNamedDims) {
  const auto dims = std::make_shared<graph::DimTable>();
  const OnnxModel model = write_onnx(sum_of_two({DType::f32, {dims->named("rows"), 3}}, dims));
  EXPECT_EQ(model.inputs, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(model.outputs, std::vector<std::string>{"z"});
  EXPECT_EQ(operators(model), (std::vector<std::string>{"Add", "Identity"}));
  const std::string_view written = field_at(model.bytes, {kGraph}).bytes;
  for (const std::uint32_t end : {kInput, kOutput}) {
    const std::string_view info = fields_of(written, end).at(0).bytes;
    EXPECT_EQ(field_at(info, {2, 1, 1}).integer, 1U);  // FLOAT
    const auto extents = fields_of(field_at(info, {2, 1, 2}).bytes, 1);
    ASSERT_EQ(extents.size(), 2U);
    EXPECT_EQ(field_at(extents[0].bytes, {2}).bytes, "rows");
    EXPECT_EQ(field_at(extents[1].bytes, {1}).integer, 3U);
  }
}

TEST(OnnxWriter, MakesNamesUnique) {
  Builder b("names");
  const graph::Value x = b.parameter("x", {DType::f32, {2}});
  b.output("x", x);
  b.output("y", x);
  const OnnxModel model = write_onnx(b.finish());
  EXPECT_EQ(model.inputs, std::vector<std::string>{"x"});
  ASSERT_EQ(model.outputs.size(), 2U);
  EXPECT_NE(model.outputs[0], "x");
  EXPECT_EQ(model.outputs[1], "y");
}

TEST(OnnxWriter, NamesLargeConstantsWithoutTheirBytes) {
  Builder b("weights");
  const graph::Value x = b.parameter("x", {DType::f32, {300}});
  const Tensor weight = Tensor::zeros({DType::f32, {300}});
  b.output("y", b.add({x, b.constant(graph::make_constant("weight", weight))}));
  const Graph graph = b.finish();
  const OnnxModel model = write_onnx(graph);
  ASSERT_EQ(model.initializers.size(), 1U);
  EXPECT_EQ(model.initializers[0].name, "weight");
  EXPECT_TRUE(model.initializers[0].constant->tensor.shares_storage_with(weight));
  EXPECT_LT(model.bytes.size(), 1200U);
  const std::string_view tensor = field_at(model.bytes, {kGraph, kInitializer}).bytes;
  EXPECT_EQ(field_at(tensor, {8}).bytes, "weight");
  EXPECT_EQ(field_at(tensor, {13, 1}).bytes, "location");
  EXPECT_EQ(field_at(tensor, {14}).integer, 1U);
  const OnnxModel whole = write_onnx(graph, {.inline_constant_bytes = 1200});
  EXPECT_TRUE(whole.initializers.empty());
  EXPECT_EQ(field_at(whole.bytes, {kGraph, kInitializer, 9}).bytes.size(), 1200U);
}

TEST(OnnxWriter, NeverDividesIntegersByWhatHasNoQuotient) {
  Builder b("div");
  const graph::Value x = b.parameter("x", {DType::i32, {2}}), y = b.parameter("y", {DType::i32, {2}});
  b.output("z", b.div({x, y}));
  const std::vector<std::string> names = operators(write_onnx(b.finish()));
  const auto first = [&](const char* name) { return std::find(names.begin(), names.end(), name) - names.begin(); };
  EXPECT_LT(first("Where"), first("Div"));
}

TEST(OnnxWriter, DecomposesFusedOpsOfLaterOpsets) {
  Builder b("gelu");
  b.output("y", b.gelu({b.parameter("x", {DType::f32, {2}})}));
  const Graph graph = b.finish();
  EXPECT_EQ(operators(write_onnx(graph, {.opset = 20}))[0], "Gelu");
  const std::vector<std::string> names = operators(write_onnx(graph));
  EXPECT_EQ(std::count(names.begin(), names.end(), "Gelu"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Erf"), 1);
}

TEST(OnnxWriter, RefusesWithOpSourceAndReason) {
  Builder b("order");
  b.set_source("layer.7");
  const graph::Value x = b.parameter("x", {DType::f32, {2}});
  b.output("y", b.less_total_order({x, x}));
  const Graph graph = b.finish();
  const Error error = base::error_of([&] { write_onnx(graph); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("less_total_order (from layer.7)"), std::string::npos) << error.message();
  const OnnxSupport support = onnx_support(graph, graph.nodes().back());
  EXPECT_FALSE(support.is_supported);
  EXPECT_NE(support.text.find("opset 26"), std::string::npos);
  EXPECT_TRUE(onnx_support(graph, graph.nodes().back(), 26).is_supported);
}

}  // namespace
}  // namespace alate::exchange
