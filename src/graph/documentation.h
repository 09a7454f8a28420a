// User documentation of the ops, generated from the op table.
#pragma once

#include <string>

namespace alate::graph {

/// docs/ops.md: each op's sentence, operands, attributes and dtypes, in the table's order.
std::string ops_documentation();

}  // namespace alate::graph
