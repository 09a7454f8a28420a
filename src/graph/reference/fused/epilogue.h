// Epilogue of dense and quantized_dense.
#pragma once

#include <optional>
#include <vector>

#include "alate/tensor.h"
#include "graph/attributes.h"
#include "graph/reference/values.h"

namespace alate::graph {

/// Applies an activation to one number.
double activate(Activation activation, double x);

/// Computes activation(result + bias) + residual in place, with the bias and the residual of `operands`.
template <typename Operands>
void add_epilogue(Activation activation, const Operands& operands, std::vector<double>& result) {
  const auto floats_of = [](const std::optional<Tensor>& x) { return x ? load_floats(*x) : std::vector<double>(); };
  const std::vector<double> bias = floats_of(operands.bias), residual = floats_of(operands.residual);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (operands.bias) result[i] += bias[i % bias.size()];
    result[i] = activate(activation, result[i]);
    if (operands.residual) result[i] += residual[i];
  }
}

}  // namespace alate::graph
