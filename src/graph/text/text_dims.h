// Sizes in the text form of graphs: numbers, names and forms over them.
#pragma once

#include "graph/dims.h"
#include "graph/text/text_lexer.h"

namespace alate::graph {

/// Reads what `text_of` (graph/dim_text.h) writes: sums and products of numbers and declared names, quotients of a
/// number, min(a,b) and max(a,b). Without a table only numbers are known. Throws invalid_argument with line and column.
Dim parse_dim(Lexer& lexer, DimTable* dims);

}  // namespace alate::graph
