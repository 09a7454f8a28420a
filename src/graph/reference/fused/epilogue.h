// Epilogue of dense and quantized_dense.
#pragma once

#include <span>
#include <vector>

#include "alate/tensor.h"
#include "graph/attributes.h"
#include "graph/reference/values.h"

namespace alate::graph {

/// Applies an activation to one number.
double activate(Activation activation, double x);

/// Computes activation(result + bias) + residual in place, as the attributes say. Bias and residual are the last of
/// `operands`.
template <typename DenseAttributes>
void add_epilogue(const DenseAttributes& dense, std::span<const Tensor> operands, std::vector<double>& result) {
  const std::vector<double> residual = dense.has_residual ? load_floats(operands.back()) : std::vector<double>();
  if (dense.has_residual) operands = operands.first(operands.size() - 1);
  const std::vector<double> bias = dense.has_bias ? load_floats(operands.back()) : std::vector<double>();
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (dense.has_bias) result[i] += bias[i % bias.size()];
    result[i] = activate(dense.activation, result[i]);
    if (dense.has_residual) result[i] += residual[i];
  }
}

}  // namespace alate::graph
