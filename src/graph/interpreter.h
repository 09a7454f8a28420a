// The reference interpreter: slow, simple and exact. Other backends are compared with it.
#pragma once

#include <span>
#include <vector>

#include "alate/tensor.h"
#include "base/threads/cancellation.h"
#include "graph/graph.h"

namespace alate::graph {

/// The graph's outputs, in order, for `inputs` in the order of its parameters. Floats are computed in double and
/// integers exactly; each op rounds its result once to its dtype. Inputs are read only and may share their bytes with
/// outputs. Thread-safe.
/// Throws invalid_argument if the number, dtypes or shapes of the inputs do not match the parameters, or an op's sizes
/// do not match once dims have values; resource_exhausted when a value would have over 2^31 elements or memory runs
/// out. A while_loop runs for as long as its condition holds. `cancellation` is polled before each op, in regions too;
/// once it is requested, this throws cancelled.
std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs, base::Cancellation cancellation);

/// The results of one op over `operands`. `shapes` are the static shapes of its results; `dims` are the values of named
/// dims. Throws as `interpret` does.
std::vector<Tensor> interpret_op(Op op, const Attributes& attributes, std::span<const Region> regions,
                                 std::span<const Tensor> operands, std::span<const Shape> shapes, const DimValues& dims,
                                 base::Cancellation cancellation);

/// The bytes of a constant: a leaf's own tensor, without a copy, or its ops' result, computed as `interpret` does.
Tensor materialize(const Constant& constant);

}  // namespace alate::graph
