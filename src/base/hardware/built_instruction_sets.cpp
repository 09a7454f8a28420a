#include "base/hardware/built_instruction_sets.h"

#include <algorithm>

namespace alate::base {

// The macro comes from cmake/instruction_sets.cmake.
std::string_view built_instruction_sets() { return ALATE_BUILT_INSTRUCTION_SETS; }

bool is_built(std::string_view name) {
  std::string_view left = built_instruction_sets();
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(", "), left.size());
    if (left.substr(0, end) == name) return true;
    left.remove_prefix(std::min(end + 2, left.size()));
  }
  return false;
}

}  // namespace alate::base
