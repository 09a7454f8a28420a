// Gradients against finite differences.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {

/// f64 (or c128) values without ties, different for each seed, between `low` and `high`.
Tensor scattered(const std::vector<std::int64_t>& extents, int seed, double low = -1.5, double high = 1.5,
                 DType dtype = DType::f64);

/// The places of a graph's outputs (or of a Graph's parameters) that are f64 or c128.
std::vector<std::size_t> differentiable_outputs(const Graph& graph);
std::vector<std::size_t> differentiable_parameters(const Graph& graph);

/// Expects vector_jacobian_product for cotangents of some values, and all f64 and c128 outputs and parameters, to agree
/// with central differences of what the graph computes, within `tolerance` of their size (or of 1).
void expect_gradients(const Graph& graph, const std::vector<Tensor>& inputs, double tolerance = 1e-7);
/// The same of a graph of one op over these tensors.
void expect_gradients(Op op, const std::vector<Tensor>& inputs, Attributes attributes = NoAttributes{},
                      double tolerance = 1e-7);

/// The gradients with respect to all f64 and c128 parameters, for these cotangents of those outputs.
std::vector<Tensor> gradients_at(const Graph& graph, std::vector<Tensor> inputs, const std::vector<Tensor>& cotangents);

}  // namespace alate::graph
