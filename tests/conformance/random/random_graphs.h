// Random valid graphs from the op table.
#pragma once

#include "tests/conformance/subject.h"

namespace alate::conformance {

/// A graph of some 3 to 40 nodes: ops of any kind over parameters, constants and each other, with named dims, regions
/// and fused ops here and there. Every output has a sound bound (error_bounds.h). The same seed gives the same graph.
Subject random_graph(std::uint64_t seed);

}  // namespace alate::conformance
