// The form in which plugins get graphs: text that refers to constants by number.
#pragma once

#include <string>
#include <vector>

#include "backends/weight_store.h"
#include "graph/graph.h"

namespace alate::plugin {

struct GraphText {
  std::string text;
  std::vector<graph::ConstantPtr> constants;  // leaves; @N in the text is number N
};

/// The graph's text, in which every constant is a tensor: derived constants are computed by the store.
GraphText write_graph(const graph::Graph& graph, backends::WeightStore& weights);

/// The text of a graph of only this node: a parameter for each operand, an output for each result.
std::string write_node(const graph::Graph& graph, const graph::Node& node);

}  // namespace alate::plugin
