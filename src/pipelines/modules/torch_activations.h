// The activation classes of torch.nn that a Dense module may name, as ops.
#pragma once

#include <string_view>

#include "graph/builder.h"

namespace alate::pipelines {

/// The one with a weight, the slope of negative values, which torch_activation does not have.
inline constexpr std::string_view kPRelu = "PReLU";

/// Whether `name` is such a class that needs no arguments and has no weights: "Tanh".
bool is_torch_activation(std::string_view name);

/// Whether it is computed along the last axis, which torch finds by itself for vectors of texts and no others.
bool is_along_rows(std::string_view name);

/// The class made without arguments, in inference, applied to x [rows, width]. REQUIRES: is_torch_activation(name).
graph::Value torch_activation(graph::Builder& b, std::string_view name, graph::Value x);

}  // namespace alate::pipelines
