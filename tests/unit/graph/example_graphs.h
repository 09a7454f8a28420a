// A small graph for each op, for tests that must hold for all of them.
#pragma once

#include <memory>
#include <vector>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {

/// Dims are named (tokens, sequences) where the op allows it, and attributes are not the defaults.
std::vector<Graph> example_graphs();

/// Inputs for an example: small numbers of the parameters' dtypes, named dims being 3; packed sequences where its op
/// reads them.
std::vector<Tensor> example_inputs(const Graph& graph);

}  // namespace alate::graph
