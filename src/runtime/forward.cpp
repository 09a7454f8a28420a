#include "runtime/forward.h"

#include "base/threads/controlled_call.h"

namespace alate {

NamedTensors Model::forward(const NamedTensors& inputs, const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const bool has_rows = !inputs.empty() && inputs.begin()->second.rank() > 0;
    const auto rows = has_rows ? static_cast<std::size_t>(inputs.begin()->second.extent(0)) : 0;
    const auto computed = call.computed_of(rows);
    NamedTensors outputs = runtime::forward(*state_, inputs, {.cancellation = call.cancellation()});
    if (computed) computed(rows);
    return outputs;
  });
}

namespace runtime {

NamedTensors forward(const Model::State& model, const NamedTensors& inputs, const backends::RunOptions& options) {
  return model.form->forward(model, inputs, options);
}

std::vector<ForwardOutput> forward_outputs(const Model::State& model) { return model.form->forward_outputs(model); }

std::vector<std::string> forward_inputs(const Model::State& model) { return model.form->forward_inputs(model); }

void add_usual_inputs(const Model::State& model, NamedTensors& inputs) { model.form->add_usual_inputs(model, inputs); }

}  // namespace runtime
}  // namespace alate
