// Regions that cases refer to by name.
//
//   an op of the table  two scalars for each value, the op applied to each pair; a comparison compares the first pair
//   counting            of a while_loop: goes on while the first value is above 0
//   down                of a while_loop: the first value minus 1, each other one doubled (a bool inverted)
//   same, doubled       of an if_else: the values as they are, or each doubled (a bool inverted)
#pragma once

#include <memory>
#include <span>
#include <string>

#include "tests/conformance/cases/case.h"

namespace alate::conformance {

/// A region of this name for an op over `operands` (their shapes in the graph that it will be part of). Throws
/// invalid_argument for an unknown name.
graph::Region make_region(const std::string& name, const Case& subject, std::span<const Shape> operands,
                          const std::shared_ptr<graph::DimTable>& dims);

}  // namespace alate::conformance
