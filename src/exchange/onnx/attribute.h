// Attributes of ONNX nodes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "exchange/protobuf_writer.h"

namespace alate::exchange::onnx {

/// An AttributeProto.
struct Attribute {
  ProtobufWriter bytes;
};
using Attributes = std::vector<Attribute>;

/// A GraphProto attribute: the body of a Loop, a branch of an If.
struct Subgraph {
  ProtobufWriter bytes;
};

Attribute attribute(std::string_view name, std::int64_t value);
Attribute attribute(std::string_view name, std::string_view value);
Attribute attribute(std::string_view name, const std::vector<std::int64_t>& values);
Attribute attribute(std::string_view name, const Subgraph& value);
Attribute float_attribute(std::string_view name, double value);

/// TensorProto's number for a dtype; 0 if it has none.
std::int64_t onnx_dtype(DType dtype);

}  // namespace alate::exchange::onnx
