// Shrinking of failing graphs.
#pragma once

#include <functional>

#include "tests/conformance/subject.h"

namespace alate::conformance {

/// The smallest graph found that still fails: with fewer outputs, with nodes replaced by parameters of their values or
/// by their operands, with smaller extents. `fails` is asked at most `most` times.
Subject shrink(Subject subject, const std::function<bool(const Subject&)>& fails, std::size_t most = 600);

}  // namespace alate::conformance
