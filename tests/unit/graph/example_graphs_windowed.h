// Examples of windows, convolutions, transforms, norms, random bits and quantized ops.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace alate::graph {

void add_window_examples(std::vector<Graph>& graphs);

/// Values of an example's operand that must not be any; nothing for other operands.
std::vector<double> window_example_values(Op op, std::size_t operand);

}  // namespace alate::graph
