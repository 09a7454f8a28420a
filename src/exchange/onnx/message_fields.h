// Field numbers of ONNX's messages: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <cstdint>

#include "alate/tensor.h"

namespace alate::exchange::onnx {

namespace node_field {
inline constexpr std::uint32_t kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5;
}
namespace graph_field {
inline constexpr std::uint32_t kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace tensor_field {
inline constexpr std::uint32_t kDims = 1, kDataType = 2, kName = 8, kRawData = 9, kExternalData = 13,
                               kDataLocation = 14;
}

/// The dtype that ONNX stores for a dtype: complex numbers are stored as their parts.
inline DType stored_dtype(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

}  // namespace alate::exchange::onnx
