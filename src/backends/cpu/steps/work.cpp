#include "backends/cpu/steps/work.h"

namespace alate::cpu {

using backends::Work;

namespace {

double stored_bytes(const Frame& frame, SlotId slot) {
  return static_cast<double>(frame.slot(slot).format.bytes(frame.shape(slot)));
}

}  // namespace

Work work_of(const Step& step, const Frame& frame) {
  return step.operation->work != nullptr ? step.operation->work(step, frame) : moved_bytes(step, frame);
}

double operand_bytes(const Step& step, const Frame& frame, std::size_t operand) {
  if (const std::optional<std::size_t> packed = step.operation->packed_at(operand, step.attributes))
    return static_cast<double>(step.packed[*packed].byte_count());
  const SlotId slot = step.inputs[operand];
  if (frame.slot(slot).kind == SlotKind::packed) return 0;
  return stored_bytes(frame, slot);
}

double result_bytes(const Step& step, const Frame& frame) {
  double bytes = 0;
  for (const SlotId output : step.outputs) bytes += stored_bytes(frame, output);
  return bytes;
}

Work moved_bytes(const Step& step, const Frame& frame) {
  Work work{.bytes = result_bytes(step, frame)};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) work.bytes += operand_bytes(step, frame, i);
  return work;
}

Work no_work(const Step& /*step*/, const Frame& /*frame*/) { return {}; }

}  // namespace alate::cpu
