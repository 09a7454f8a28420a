// Work of steps that access parts of their first operand.
#include <algorithm>

#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"

namespace alate::cpu {
namespace {

using backends::Work;

// Bytes of the operands from `first` on.
double bytes_from(const Step& step, const Frame& frame, std::size_t first) {
  double bytes = 0;
  for (std::size_t i = first; i < step.inputs.size(); ++i) bytes += operand_bytes(step, frame, i);
  return bytes;
}

// Work of writing operand `update` into parts of operand 0.
Work updated(const Step& step, const Frame& frame, std::size_t update) {
  Work work{.bytes = bytes_from(step, frame, 1) + operand_bytes(step, frame, update)};
  if (frame.in<std::byte>(step.inputs[0]) != frame.out<std::byte>(step.output()))
    work.bytes += operand_bytes(step, frame, 0) + result_bytes(step, frame);
  return work;
}

}  // namespace

Work slice_work(const Step& step, const Frame& frame) {
  return {.bytes = 2 * result_bytes(step, frame) + bytes_from(step, frame, 1)};
}

Work gather_work(const Step& step, const Frame& frame) { return slice_work(step, frame); }

Work quantized_embedding_work(const Step& step, const Frame& frame) {
  const Shape& table = frame.shape(step.inputs[1]);
  const auto rows = static_cast<double>(std::max<std::size_t>(extent_of(table, 0), 1)),
             taken = static_cast<double>(count_of(frame.shape(step.inputs[0])));
  // The looked-up rows of the table with their scales.
  return {.bytes =
              operand_bytes(step, frame, 0) + bytes_from(step, frame, 1) / rows * taken + result_bytes(step, frame)};
}

Work update_slice_work(const Step& step, const Frame& frame) { return updated(step, frame, 1); }

// Unless it sets elements, a scatter also reads them.
Work scatter_work(const Step& step, const Frame& frame) {
  Work work = updated(step, frame, 2);
  if (step.operation->op != graph::Op::scatter_set) work.bytes += operand_bytes(step, frame, 2);
  return work;
}

}  // namespace alate::cpu
