// Sums of rows that one kernel makes and another reads.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// Floats that the sum of a row takes: lane l, of as many as a vector has, is the sum of the row's numbers l, l +
/// lanes, l + 2 lanes, ..., added in that order. Lanes that a shorter vector lacks are not written.
constexpr std::size_t kSumLanes = 16;

}  // namespace alate::cpu
