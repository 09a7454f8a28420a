// A graph with its inputs, as the fuzzer makes it, shrinks it, and keeps it in a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "tests/conformance/error_bounds.h"

namespace alate::conformance {

struct Subject {
  graph::Graph graph;
  std::vector<Tensor> inputs;
};

/// The graph as text, then one of constants: the inputs.
std::string print_subject(const Subject& subject);
/// The inverse. Throws invalid_argument with what is wrong.
Subject parse_subject(std::string_view text);

/// The values of a graph's dims for its inputs. Throws invalid_argument.
graph::DimValues dims_of(const Subject& subject);

/// Why the graph's results cannot be compared; nothing where they can (see error_bounds.h).
std::optional<std::string> why_no_bound(const Subject& subject);

/// What is wrong with a backend's results; nothing where they are right, where the backend does not take the graph, or
/// where no bound is known (see error_bounds.h).
std::optional<std::string> find_difference(backends::Backend& backend, const Subject& subject);

}  // namespace alate::conformance
