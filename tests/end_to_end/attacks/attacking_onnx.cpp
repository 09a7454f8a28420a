#include "tests/end_to_end/attacks/attacking_onnx.h"

#include <cstring>
#include <utility>
#include <vector>

namespace alate::tests {
namespace {

using namespace exchange;

constexpr std::int64_t kFloat = 1, kInt64 = 7, kBool = 9;  // TensorProto.DataType

ProtobufWriter words_tensor(float value, bool is_inside, const std::string& location) {
  if (!is_inside) return external_tensor("words", {{"location", location}}, {kWords, kWordSize});
  ProtobufWriter tensor;
  for (const std::int64_t dim : {kWords, kWordSize}) tensor.integer(1, dim);
  tensor.integer(2, kFloat);
  tensor.bytes(8, "words");
  tensor.bytes(9, word_bytes(value));
  return tensor;
}

// The ports of an encoder around nodes and tensors.
std::string encoder_around(ProtobufWriter graph) {
  graph.bytes(2, "encoder");
  for (const char* name : {"input_ids", "attention_mask"})
    graph.message(11, value_info(name, kInt64, {-1, -1}, {"batch", "length"}));
  graph.message(12, value_info("last_hidden_state", kFloat, {-1, -1, kWordSize}, {"batch", "length"}));
  return onnx_model(graph);
}

ProtobufWriter graph_attribute(const std::string& name, const ProtobufWriter& graph) {
  ProtobufWriter attribute;
  attribute.bytes(1, name);
  attribute.message(6, graph);
  attribute.integer(20, 5);  // AttributeProto.GRAPH
  return attribute;
}

}  // namespace

std::string word_bytes(float value) {
  const std::vector<float> numbers(static_cast<std::size_t>(kWords * kWordSize), value);
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

ProtobufWriter words_inside(float value) { return words_tensor(value, true, {}); }
ProtobufWriter words_in_file(const std::string& location) { return words_tensor(0, false, location); }

std::string onnx_encoder(const ProtobufWriter& words) {
  ProtobufWriter graph;
  graph.message(1, onnx_node("Gather", {"words", "input_ids"}, "last_hidden_state"));
  graph.message(5, words);
  return encoder_around(std::move(graph));
}

std::string endless_onnx_encoder() {
  // Of each round: its number, whether to go on, and a number whose sign changes.
  ProtobufWriter round;
  round.message(1, onnx_node("Identity", {"go_on"}, "goes_on"));
  round.message(1, onnx_node("Neg", {"number"}, "negative"));
  round.bytes(2, "round");
  round.message(11, value_info("round", kInt64, {}));
  round.message(11, value_info("go_on", kBool, {}));
  round.message(11, value_info("number", kFloat, {}));
  round.message(12, value_info("goes_on", kBool, {}));
  round.message(12, value_info("negative", kFloat, {}));

  ProtobufWriter graph;
  graph.message(1, onnx_node("Size", {"input_ids"}, "tokens"));
  graph.message(1, onnx_node("Sub", {"tokens", "few"}, "over"));
  graph.message(1, onnx_node("Max", {"over", "none"}, "excess"));
  graph.message(1, onnx_node("Mul", {"excess", "many"}, "rounds"));
  graph.message(1, onnx_node("Cast", {"input_ids"}, "floats", {int_attribute("to", kFloat)}));
  graph.message(1, onnx_node("ReduceMax", {"floats"}, "most", {int_attribute("keepdims", 0)}));
  graph.message(1, onnx_node("Loop", {"rounds", "", "most"}, "last", {graph_attribute("body", round)}));
  graph.message(1, onnx_node("Gather", {"words", "input_ids"}, "hidden"));
  graph.message(1, onnx_node("Add", {"hidden", "last"}, "last_hidden_state"));
  graph.message(5, words_inside(1));
  graph.message(5, i64_tensor("few", {16}));
  graph.message(5, i64_tensor("none", {0}));
  graph.message(5, i64_tensor("many", {std::int64_t{1} << 50}));
  return encoder_around(std::move(graph));
}

std::string lying_onnx_encoder() {
  // Times the number of rows and back again: no inference of shapes sees through this.
  ProtobufWriter graph;
  graph.message(1, onnx_node("Shape", {"input_ids"}, "extents"));
  graph.message(1, onnx_node("Gather", {"extents", "first"}, "rows"));
  graph.message(1, onnx_node("Mul", {"shape", "rows"}, "larger"));
  graph.message(1, onnx_node("Div", {"larger", "rows"}, "same"));
  graph.message(1, onnx_node("Cast", {"input_ids"}, "floats", {int_attribute("to", kFloat)}));
  graph.message(1, onnx_node("ReduceMax", {"floats"}, "most", {int_attribute("keepdims", 0)}));
  graph.message(1, onnx_node("Expand", {"most", "same"}, "last_hidden_state"));
  graph.message(5, i64_tensor("first", {0}));
  graph.message(5, i64_tensor("shape", {1, 1, kWordSize}));
  return encoder_around(std::move(graph));
}

}  // namespace alate::tests
