// Error bounds: how far a correct backend may be from the reference at the end of a chain of ops.
//
// Each value is computed as the reference does, and again several times with every rounding replaced by a random error
// of the op's tolerance, which propagates through later ops. The spread of these variants bounds how much the value may
// vary. A value not affected by any rounding has no variants: it is certain, and every backend must give it exactly.
// Ops that jump (floor, comparisons, sort, conversions to integers) are refused operands that are not certain, so that
// a difference after them is real.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace alate::conformance {

using Random = std::mt19937_64;

struct Tracked {
  Tensor value;
  std::vector<Tensor> variants;  // none: certain
  bool is_certain() const { return variants.empty(); }
};

/// One op over operands. `shapes` are its results', in numbers. Throws invalid_argument, with the reason, where the
/// reference refuses the operands or no sound bound is known: values that overflow, errors that grow too much, a jump.
std::vector<Tracked> track_op(const graph::Node& node, std::span<const Tracked> operands, std::span<const Shape> shapes,
                              const graph::DimValues& dims, Random& random);

/// A graph's outputs. Throws as track_op.
std::vector<Tracked> track_graph(const graph::Graph& graph, std::span<const Tracked> inputs,
                                 const graph::DimValues& dims, Random& random);

/// What differs from a backend's tensor by more than the value may vary, or nothing.
std::optional<std::string> difference(const Tensor& found, const Tracked& wanted);

}  // namespace alate::conformance
