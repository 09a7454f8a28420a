// Weights in the type that they are kept in beside float32.
#pragma once

#include <string>

#include "graph/constant.h"

namespace alate::models {

/// A constant of f32 in `dtype`, f32, bf16 or f16, rounded once from what the file holds; a file's own tensor of that
/// type as it lies there. Numbers below f16 become subnormals or zeros. Throws unsupported, naming the weight `stored`,
/// where a finite number would be infinite in f16.
graph::ConstantPtr kept_as(DType dtype, graph::ConstantPtr floats, const std::string& stored);

}  // namespace alate::models
