// Which operands of a step go row by row: facts for rows of the table of operations.
#pragma once

#include <cstdint>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

// Bit i: row r of the results depends only on row r of operand i, along their first axes; operands without a bit are
// read whole. 0: results depend on other rows, or this is not known.

/// Of any step.
inline std::uint32_t row_operands(const Step& step) {
  return step.operation->row_operands != nullptr ? step.operation->row_operands(step) : 0;
}

/// The operands at these places.
template <OperandPlace... kPlaces>
std::uint32_t row_operands_at(const Step& step) {
  const auto bit = [](std::optional<std::size_t> place) { return place ? std::uint32_t{1} << *place : 0; };
  return (bit(kPlaces(step.attributes)) | ...);
}

/// The operand, and the sums of its rows, if there are any.
std::uint32_t norm_rows(const Step& norm);
/// The indices, if each slice belongs to one entry of their first axis, which is also the result's.
std::uint32_t gathered_rows(const Step& gather);
/// Those that all parts of a joined step read row by row. Each part reads the previous part's result so.
std::uint32_t joined_rows(const Step& step);

}  // namespace alate::cpu
