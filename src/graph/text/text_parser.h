// A graph within a longer text.
#pragma once

#include "graph/text/text.h"
#include "graph/text/text_lexer.h"

namespace alate::graph {

/// Reads a graph and stops behind it. Throws as parse_graph of a whole text.
Graph parse_graph(Lexer& lexer, const ConstantResolver& resolver);

}  // namespace alate::graph
