// Model::forward with run options, and descriptions of its inputs and outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// As Model::forward; `options` are passed to each run. Throws as that, and cancelled.
NamedTensors forward(const Model::State& model, const NamedTensors& inputs, const backends::RunOptions& options);

/// Compiles the program, or opens the file, at the first use, and throws as that does; throws unsupported for a file
/// without such outputs.
std::vector<ForwardOutput> forward_outputs(const Model::State& model);

/// The names of the tensors that `forward` takes, input_ids among them. Opens the file at the first use.
std::vector<std::string> forward_inputs(const Model::State& model);

/// Adds the inputs that an ONNX file takes and `inputs` lacks, where they have a usual value: a mask of ones, types of
/// zeros, positions from 0, shaped like input_ids [batch, length]. Other models add these by themselves.
void add_usual_inputs(const Model::State& model, NamedTensors& inputs);

}  // namespace alate::runtime
