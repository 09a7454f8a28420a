// Minimal ONNX messages for tests, including ones that no exporter writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exchange/protobuf_writer.h"

namespace alate::exchange {

/// A message that holds another one under a field.
inline ProtobufWriter message_with(std::uint32_t field, const ProtobufWriter& inner) {
  ProtobufWriter outer;
  outer.message(field, inner);
  return outer;
}

using ExternalEntries = std::vector<std::pair<std::string, std::string>>;

/// A TensorProto whose bytes are in another file: f32 unless it says another type.
inline ProtobufWriter external_tensor(const std::string& name, const ExternalEntries& entries,
                                      const std::vector<std::int64_t>& dims = {3, 4}, std::int64_t dtype = 1,
                                      bool says_so = true) {
  ProtobufWriter tensor;
  for (const std::int64_t dim : dims) tensor.integer(1, dim);
  tensor.integer(2, dtype);
  tensor.bytes(8, name);
  for (const auto& [key, value] : entries) {
    ProtobufWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    tensor.message(13, entry);
  }
  if (says_so) tensor.integer(14, 1);
  return tensor;
}

/// A ModelProto around a GraphProto: IR version 8, opset 18.
inline std::string onnx_model(const ProtobufWriter& graph) {
  ProtobufWriter model, opset;
  opset.bytes(1, "");
  opset.integer(2, 18);
  model.integer(1, 8);
  model.message(7, graph);
  model.message(8, opset);
  return model.take();
}

/// A ValueInfoProto of a tensor; negative dims are named by `names`, in their order, or open where those end.
inline ProtobufWriter value_info(const std::string& name, std::int64_t dtype, const std::vector<std::int64_t>& dims,
                                 const std::vector<std::string>& names = {}) {
  ProtobufWriter shape, tensor, type, value;
  std::size_t next = 0;
  for (const std::int64_t extent : dims) {
    ProtobufWriter dim;
    if (extent >= 0) {
      dim.integer(1, extent);
    } else if (next < names.size()) {
      dim.bytes(2, names[next++]);
    }
    shape.message(1, dim);
  }
  tensor.integer(1, dtype);
  tensor.message(2, shape);
  type.message(1, tensor);
  value.bytes(1, name);
  value.message(2, type);
  return value;
}

inline ProtobufWriter onnx_node(const std::string& op, const std::vector<std::string>& inputs,
                                const std::string& output, const std::vector<ProtobufWriter>& attributes = {}) {
  ProtobufWriter node;
  for (const std::string& input : inputs) node.bytes(1, input);
  node.bytes(2, output);
  node.bytes(4, op);
  for (const ProtobufWriter& attribute : attributes) node.message(5, attribute);
  return node;
}

inline ProtobufWriter int_attribute(const std::string& name, std::int64_t value) {
  ProtobufWriter attribute;
  attribute.bytes(1, name);
  attribute.integer(3, value);
  attribute.integer(20, 2);  // AttributeProto.INT
  return attribute;
}

/// An i64 TensorProto of one dim.
inline ProtobufWriter i64_tensor(const std::string& name, const std::vector<std::int64_t>& values) {
  ProtobufWriter tensor;
  tensor.integer(1, static_cast<std::int64_t>(values.size()));
  tensor.integer(2, 7);
  for (const std::int64_t value : values) tensor.integer(7, value);
  tensor.bytes(8, name);
  return tensor;
}

}  // namespace alate::exchange
