// The element types of safetensors and what they are here.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "alate/tensor.h"

namespace alate::formats {

struct SafetensorsDType {
  std::string_view name;  // as headers spell it: "F32"
  DType dtype;            // invalid for the format's types that we do not have
  std::size_t bits;
};

/// The row of a name in a header; null when the format has no such type.
const SafetensorsDType* find_safetensors_dtype(std::string_view name);
/// The row of our type; null when the format lacks it.
const SafetensorsDType* find_safetensors_dtype(DType dtype);

}  // namespace alate::formats
