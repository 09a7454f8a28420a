// Row sums that one kernel writes and another reads.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// Floats per row sum: lane l, of as many lanes as a vector has, is the sum of the row's elements l, l + lanes, l + 2
/// lanes, ..., added in that order. Lanes beyond a shorter vector are not written.
constexpr std::size_t kSumLanes = 16;

}  // namespace alate::cpu
