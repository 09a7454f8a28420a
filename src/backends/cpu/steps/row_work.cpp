// Work of norms, softmax and pooling.
#include "backends/cpu/steps/steps.h"
#include "backends/cpu/steps/work.h"

namespace alate::cpu {
namespace {

using backends::Arithmetic;
using backends::Work;

// `operations` per element of the result; halves are widened, so all arithmetic is f32.
Work for_each_element(const Step& step, const Frame& frame, double operations) {
  Work work = moved_bytes(step, frame);
  work.flops = operations * static_cast<double>(count_of(frame.shape(step.output())));
  work.arithmetic = Arithmetic::f32;
  return work;
}

}  // namespace

// Sum; deviation, its square, the squares' sum; division by the standard deviation; scale, shift.
Work layer_norm_work(const Step& step, const Frame& frame) { return for_each_element(step, frame, 8); }
// Square, sum; division by the root; scale.
Work rms_norm_work(const Step& step, const Frame& frame) { return for_each_element(step, frame, 4); }
// Square, sum; division by the length.
Work normalize_work(const Step& step, const Frame& frame) { return for_each_element(step, frame, 3); }
// Minus the largest, exponential, sum; division by the sum, or minus its logarithm.
Work softmax_work(const Step& step, const Frame& frame) { return for_each_element(step, frame, 4); }

Work pool_work(const Step& step, const Frame& frame) {
  const graph::PoolMode mode = std::get<graph::Pool>(step.attributes).mode;
  Work work = moved_bytes(step, frame);
  // These modes read only one row per sequence.
  if (mode == graph::PoolMode::cls || mode == graph::PoolMode::last)
    work.bytes += result_bytes(step, frame) - operand_bytes(step, frame, 0);
  return work;
}

}  // namespace alate::cpu
