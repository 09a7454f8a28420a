#include "backends/cpu/steps/work.h"

namespace alate::cpu {

using backends::Work;

Work work_of(const Step& step, const Frame& frame) {
  return step.operation->work != nullptr ? step.operation->work(step, frame) : moved_bytes(step, frame);
}

double operand_bytes(const Step& step, const Frame& frame, std::size_t operand) {
  if (const std::optional<std::size_t> packed = step.operation->packed_at(operand, step.attributes))
    return static_cast<double>(step.packed[*packed].byte_count());
  const SlotId slot = step.inputs[operand];
  if (frame.slots[slot].kind == SlotKind::packed) return 0;
  return static_cast<double>(frame.shape(slot).byte_count());
}

double result_bytes(const Step& step, const Frame& frame) {
  double bytes = 0;
  for (const SlotId output : step.outputs) bytes += static_cast<double>(frame.shape(output).byte_count());
  return bytes;
}

Work moved_bytes(const Step& step, const Frame& frame) {
  Work work{.bytes = result_bytes(step, frame)};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) work.bytes += operand_bytes(step, frame, i);
  return work;
}

Work no_work(const Step& /*step*/, const Frame& /*frame*/) { return {}; }

}  // namespace alate::cpu
