// The shape rules that rows of the op table name.
#pragma once

#include <vector>

#include "graph/infer.h"

namespace alate::graph {

// One function per rule, in its family's file; a missing one is a link error.
#define ALATE_LEAF_OP(name, arity, attributes, rule, ...) std::vector<Shape> infer_##rule(const InferenceInput& input);
#define ALATE_OP ALATE_LEAF_OP
#define ALATE_REGION_OP ALATE_LEAF_OP
#define ALATE_MULTI_OP ALATE_LEAF_OP
#define ALATE_FUSED_OP ALATE_LEAF_OP
#define ALATE_MULTI_FUSED_OP ALATE_LEAF_OP
#include "graph/ops.def"

}  // namespace alate::graph
