#include "backends/cpu/kernels/rows/batch_norm.h"

#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

ChannelValues values_of(const Step& step, const Shape& x) {
  const auto axis = static_cast<std::size_t>(std::get<graph::BatchNorm>(step.attributes).axis);
  ChannelValues values;
  values.dtype = x.dtype;
  values.channels = extent_of(x, axis);
  for (std::size_t i = 0; i < axis; ++i) values.outer *= extent_of(x, i);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) values.inner *= extent_of(x, i);
  return values;
}

double epsilon_of(const Step& step) { return std::get<graph::BatchNorm>(step.attributes).epsilon; }

}  // namespace

void run_batch_norm_inference(const Step& step, const Frame& frame) {
  const auto in = [&](std::size_t i) { return frame.in<std::byte>(step.inputs[i]); };
  batch_norm(values_of(step, frame.shape(step.inputs[0])),
             {in(0), in(1), in(2), in(3), in(4), frame.out<std::byte>(step.output()), epsilon_of(step)}, frame.pool,
             frame.max_workers);
}

void run_batch_norm_training(const Step& step, const Frame& frame) {
  const auto in = [&](std::size_t i) { return frame.in<std::byte>(step.inputs[i]); };
  const auto out = [&](std::size_t i) { return frame.out<std::byte>(step.outputs[i]); };
  batch_norm_training(values_of(step, frame.shape(step.inputs[0])),
                      {in(0), in(1), in(2), out(0), out(1), out(2), epsilon_of(step)}, frame.pool, frame.max_workers);
}

void run_batch_norm_gradient(const Step& step, const Frame& frame) {
  const auto in = [&](std::size_t i) { return frame.in<std::byte>(step.inputs[i]); };
  const auto out = [&](std::size_t i) { return frame.out<std::byte>(step.outputs[i]); };
  batch_norm_gradient(values_of(step, frame.shape(step.inputs[0])),
                      {in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2), epsilon_of(step)}, frame.pool,
                      frame.max_workers);
}

}  // namespace alate::cpu
