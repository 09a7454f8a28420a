#include "backends/cpu/steps/row_operands.h"

#include <algorithm>

#include "backends/cpu/steps/norm_arguments.h"

namespace alate::cpu {

std::uint32_t norm_rows(const Step& norm) {
  const std::optional<std::size_t> sums = row_sums_operand(norm);
  return 1U | (sums ? std::uint32_t{1} << *sums : 0);
}

std::uint32_t gathered_rows(const Step& step) {
  const auto& gather = std::get<graph::Gather>(step.attributes);
  const bool takes_rows = gather.operand_batching_dims.empty() && gather.index_vector_dim != 0 &&
                          std::ranges::find(gather.offset_dims, 0) == gather.offset_dims.end();
  return takes_rows ? 2 : 0;
}

std::uint32_t joined_rows(const Step& step) {
  std::uint32_t by_row = 0, whole = 0;
  for (const Step& part : step.parts) {
    const std::uint32_t mask = row_operands(part);
    if (mask == 0) return 0;
    for (std::size_t k = 0; k < part.inputs.size(); ++k) {
      for (std::size_t place = 0; place < step.inputs.size(); ++place) {
        if (step.inputs[place] == part.inputs[k]) ((mask >> k & 1) != 0 ? by_row : whole) |= std::uint32_t{1} << place;
      }
    }
  }
  return (by_row & whole) == 0 ? by_row : 0;
}

}  // namespace alate::cpu
