// Graphs of one case, or of many cases that share a module.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/cases/case.h"

namespace alate::conformance {

/// A graph with its inputs. The results of case i are outputs first_output[i] up to first_output[i + 1].
struct Module {
  graph::Graph graph;
  std::vector<Tensor> inputs;
  std::vector<std::size_t> first_output;
};

/// What is done to the operands' floats first, see tolerances.h: made positive, or subnormal ones made zeros.
enum class Operands : std::uint8_t { as_they_are, magnitudes, flushed };

struct ModuleOptions {
  Operands operands = Operands::as_they_are;
  // Otherwise parts of complex operands of arithmetic are finite, and so are their squares, and zeros have no sign.
  bool complex_edges = true;
  bool powers_of_subnormals = true;  // BackendTraits::powers_of_subnormals
  bool keeps_nan_bits = true;  // BackendTraits::keeps_nan_bits: otherwise what is bitcast has one NaN of each sign
};

/// The graph of all `cases`.
/// Throws invalid_argument when shape inference refuses a case.
Module make_module(std::span<const Case> cases, const ModuleOptions& options = {});

/// The shapes of the case's results, where shape inference accepts it; makes no values.
std::optional<std::vector<Shape>> results_of(const Case& subject);

}  // namespace alate::conformance
