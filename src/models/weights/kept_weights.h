// Weights kept in a type other than float32.
#pragma once

#include <string>

#include "graph/constant.h"

namespace alate::models {

/// An f32 constant in `dtype` (f32, bf16 or f16), rounded once from the file's values; a file's own tensor of that type
/// is used as it is. Numbers too small for f16 become subnormals or zeros. Throws unsupported, naming the weight
/// `stored`, where a finite number would be infinite in f16.
graph::ConstantPtr kept_as(DType dtype, graph::ConstantPtr floats, const std::string& stored);

}  // namespace alate::models
