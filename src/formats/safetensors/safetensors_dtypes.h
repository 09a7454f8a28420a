// The element types of safetensors and their DTypes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "alate/tensor.h"

namespace alate::formats {

struct SafetensorsDType {
  std::string_view name;  // as in headers: "F32"
  DType dtype;            // invalid for types that Alate lacks
  std::size_t bits;
};

/// The row for a name in a header; null if the format has no such type.
const SafetensorsDType* find_safetensors_dtype(std::string_view name);
/// The row for a DType; null if the format lacks it.
const SafetensorsDType* find_safetensors_dtype(DType dtype);

}  // namespace alate::formats
