// The values of a case's operands, made from their kind, the seed and the operand's place.
//
//   numbers    floats between -3 and 3, integers between -100 and 100 as far as the dtype goes, any bool
//   units      floats between -1 and 1, integers as numbers
//   wide       floats of all magnitudes, integers of any bits
//   edges      every combination of the dtype's edge values among the operands as far as the elements go, then numbers:
//              NaN, infinities, zeros of both signs, the smallest and largest values, values around one half
//   specials   numbers, and here and there NaN, an infinity or a negative zero: no sum of them overflows
//   exact      integers between -8 and 8 in every dtype: no rounding anywhere, and differences are real
//   positive   floats between 0 and 4, integers between 1 and 100
//   ones       ones
//   signs      ones of either sign
//   places(n)  integers from 0 up to n
//   wild(n)    integers below, within and past 0 … n, and the dtype's lowest and highest
//   bits       any bits
//
// Kinds of packed sequences, which agree with each other within a case: starts, lengths, cached, pages.
// Dtypes that are only stored always get any bits.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "tests/conformance/cases/case.h"

namespace alate::conformance {

/// The values of operand `place`. The same case always gives the same bytes. Throws invalid_argument for an unknown
/// kind.
Tensor values_of(const Case& subject, std::size_t place);

/// How many edge values a dtype has.
std::int64_t edge_count(DType dtype);

}  // namespace alate::conformance
