#include "exchange/onnx/attribute.h"

namespace alate::exchange::onnx {
namespace {

// AttributeProto's fields and the numbers of its types: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
constexpr std::uint32_t kName = 1, kFloat = 2, kInteger = 3, kString = 4, kGraph = 6, kIntegerList = 8, kType = 20;
constexpr std::int64_t kFloatType = 1, kIntegerType = 2, kStringType = 3, kGraphType = 5, kIntegerListType = 7;

Attribute begin(std::string_view name, std::int64_t type) {
  Attribute result;
  result.bytes.bytes(kName, name);
  result.bytes.integer(kType, type);
  return result;
}

}  // namespace

Attribute attribute(std::string_view name, std::int64_t value) {
  Attribute result = begin(name, kIntegerType);
  result.bytes.integer(kInteger, value);
  return result;
}

Attribute attribute(std::string_view name, std::string_view value) {
  Attribute result = begin(name, kStringType);
  result.bytes.bytes(kString, value);
  return result;
}

Attribute attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  Attribute result = begin(name, kIntegerListType);
  for (const std::int64_t value : values) result.bytes.integer(kIntegerList, value);
  return result;
}

Attribute attribute(std::string_view name, const Subgraph& value) {
  Attribute result = begin(name, kGraphType);
  result.bytes.message(kGraph, value.bytes);
  return result;
}

Attribute float_attribute(std::string_view name, double value) {
  Attribute result = begin(name, kFloatType);
  result.bytes.single(kFloat, static_cast<float>(value));
  return result;
}

std::int64_t onnx_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32: return 1;
    case DType::u8: return 2;
    case DType::i8: return 3;
    case DType::u16: return 4;
    case DType::i16: return 5;
    case DType::i32: return 6;
    case DType::i64: return 7;
    case DType::boolean: return 9;
    case DType::f16: return 10;
    case DType::f64: return 11;
    case DType::u32: return 12;
    case DType::u64: return 13;
    case DType::bf16: return 16;
    default: return 0;
  }
}

}  // namespace alate::exchange::onnx
