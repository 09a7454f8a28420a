#include "backends/cpu/plan/operation.h"

namespace alate::cpu {

std::optional<std::size_t> Operation::packed_at(std::size_t place, const graph::Attributes& attributes) const {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (packed[i].place(attributes) == place) return i;
  }
  return std::nullopt;
}

}  // namespace alate::cpu
