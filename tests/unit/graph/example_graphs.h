// A small graph for each op, for tests that must hold for all of them.
#pragma once

#include <memory>
#include <vector>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {

/// The dims "tokens" and "number of sequences" that `example` declares.
inline const Dim kTokens = Dim::of_id(0), kSequences = Dim::of_id(1);

/// Parameters of these shapes and one op over them, all of whose results are outputs. Operand i has the dtype at i, or
/// from the beginning again.
Graph example(Op op, const std::vector<DType>& dtypes, const std::vector<Dims>& dims, Attributes attributes);

/// Of ops that slice, pad, scatter, reduce, sort and talk to other devices.
void add_structural_examples(std::vector<Graph>& graphs);

/// Dims are named (tokens, sequences) where the op allows it, and attributes are not the defaults.
std::vector<Graph> example_graphs();

/// Inputs for an example: small numbers of the parameters' dtypes, named dims being 3; packed sequences where its op
/// reads them.
std::vector<Tensor> example_inputs(const Graph& graph);

}  // namespace alate::graph
