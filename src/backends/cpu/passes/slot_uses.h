// Who reads and who writes each slot, and in which formats they may.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// A step that reads a slot, directly or by a view, as one of its operands.
struct SlotReader {
  std::size_t step, operand;
};

/// The uses of a slot that is not a view: an entry for each time that a step names it or a view of it.
struct SlotUses {
  std::vector<SlotReader> readers;
  std::vector<std::size_t> writers;
};

/// By slot; a view's are its base's.
std::vector<SlotUses> slot_uses(const Plan& plan);

inline bool may_read_as(const Plan& plan, const SlotReader& reader, Format format) {
  const Step& step = plan.steps[reader.step];
  return step.operation->reads_as(format, reader.operand, step.attributes);
}

/// The only step that writes the row-major slot, if it is the step's first result and may have the format; else null.
Step* writer_as(Plan& plan, const std::vector<SlotUses>& uses, SlotId id, Format format);

}  // namespace alate::cpu
