#include <cstring>

#include "backends/cpu/steps/steps.h"
#include "graph/interpreter.h"

namespace alate::cpu {

void run_interpreted(const Step& step, const Frame& frame) {
  std::vector<Tensor> operands;
  for (const SlotId input : step.inputs)
    operands.push_back(Tensor::borrow(frame.shape(input), frame.in<std::byte>(input), nullptr));
  std::vector<Shape> shapes;
  for (const SlotId output : step.outputs) shapes.push_back(frame.shape(output));
  const std::vector<Tensor> results = graph::interpret_op(step.operation->op, step.attributes, step.graphs, operands,
                                                          shapes, *frame.binding.dims, frame.options.cancellation);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].byte_count() > 0)
      std::memcpy(frame.out<std::byte>(step.outputs[i]), results[i].bytes().data(), results[i].byte_count());
  }
}

}  // namespace alate::cpu
