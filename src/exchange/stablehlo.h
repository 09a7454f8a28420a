// Export of graphs as textual StableHLO, which any PJRT plugin compiles: https://openxla.org/stablehlo/spec
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dims.h"
#include "graph/graph.h"

namespace alate::exchange {

/// The expected value of an extra module result, an integer for each axis.
struct ExtentCheck {
  std::vector<std::int64_t> extents;
  std::string source;  // of the dynamic_reshape
};

/// Throws invalid_argument if `found` differs from the expected extents.
void require_extents(const ExtentCheck& check, const Tensor& found);

struct StableHloOptions {
  /// Larger constants become arguments, so that they are uploaded once and the text stays small.
  std::size_t inline_constant_bytes = 1024;
  /// XLA turns a division by a constant, or by a broadcast value, into a multiplication by its inverse, which can be
  /// off by one ulp. Hiding such divisors from it costs a pass over memory.
  bool exact_division = true;
  /// Returns the runtime extents of dynamic_reshape as extra results, for the caller to check.
  bool extents_as_results = false;
};

/// A module whose function @main takes the graph's parameters in their order, then `constants`, and returns the graph's
/// outputs. A parameter that an output aliases has the attribute tf.aliasing_output.
struct StableHloModule {
  std::string text;
  std::vector<graph::ConstantPtr> constants;
  std::vector<ExtentCheck> checks;  // of the results after the graph's outputs, in order
};

/// `dims` must bind every named dim that the graph uses: the module's shapes are static. Fused ops must have been
/// decomposed. Only the caller can check the runtime extents of dynamic_reshape: see extents_as_results; in a region
/// they must be constants then. The region of a generic reduce must be associative with the initial values as its
/// identity, as StableHLO requires. Throws unsupported, naming the op, its source and the reason, for ops that
/// StableHLO cannot express; invalid_argument for an unbound dim.
StableHloModule write_stablehlo(const graph::Graph& graph, const graph::DimValues& dims,
                                const StableHloOptions& options = {});

/// The StableHLO op for an op (the main one of several), or why there is none.
struct StableHloSupport {
  std::string_view spelling;
  std::string reason;  // empty where it is supported

  bool is_supported() const { return reason.empty(); }
};

/// Support of a node of `graph`, without its regions; query their nodes separately.
StableHloSupport supports_stablehlo(const graph::Graph& graph, const graph::Node& node);

}  // namespace alate::exchange
