// Graphs as textual StableHLO, which any PJRT plugin compiles: https://openxla.org/stablehlo/spec
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dims.h"
#include "graph/graph.h"

namespace alate::exchange {

/// What a further result of a module must be, an integer for each axis.
struct ExtentCheck {
  std::vector<std::int64_t> extents;
  std::string source;  // of the dynamic_reshape
};

/// Throws invalid_argument where these integers are others.
void require_extents(const ExtentCheck& check, const Tensor& found);

struct StableHloOptions {
  /// Constants of more bytes become arguments, so that they are uploaded once and the text stays small.
  std::size_t inline_constant_bytes = 1024;
  /// XLA divides by a constant, or by a repeated value, as a product with the inverse, which can be off by a unit in
  /// the last place. Hiding such divisors from it costs a pass over memory.
  bool exact_division = true;
  /// Gives the extents that dynamic_reshape is told as further results, for whoever runs the module to compare.
  bool extents_as_results = false;
};

/// A module whose function @main takes the graph's parameters in their order, then `constants`, and gives the graph's
/// outputs. A parameter that an output is written over has the attribute tf.aliasing_output.
struct StableHloModule {
  std::string text;
  std::vector<graph::ConstantPtr> constants;
  std::vector<ExtentCheck> checks;  // of the results behind the graph's outputs, in their order
};

/// `dims` gives every named dim that the graph uses a number: the module's shapes are static. Fused ops must have been
/// decomposed. The extents that dynamic_reshape is told are checked by the caller, if at all: see extents_as_results;
/// in a region they must be constants then. The region of a generic reduce must be associative with the first values as
/// its identity, as StableHLO asks. Throws unsupported, naming the op, its source and the reason, for what StableHLO
/// cannot say; invalid_argument for a dim without a number.
StableHloModule write_stablehlo(const graph::Graph& graph, const graph::DimValues& dims,
                                const StableHloOptions& options = {});

/// The spelling of an op (the main one, of several), or why it has none.
struct StableHloSupport {
  std::string_view spelling;
  std::string reason;  // empty where it is supported

  bool is_supported() const { return reason.empty(); }
};

/// Of a node of `graph` itself; its regions' nodes are asked about one by one.
StableHloSupport supports_stablehlo(const graph::Graph& graph, const graph::Node& node);

}  // namespace alate::exchange
