// Model::forward, for who wants to say more about the runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// As Model::forward; `options` go to each run. Throws cancelled beside what that throws.
NamedTensors forward(const Model::State& model, const NamedTensors& inputs, const backends::RunOptions& options);

/// A float32 output of `forward`, as far as it is known before anything is run.
struct ForwardOutput {
  std::string name;
  bool is_per_token = false;          // [batch, length, …], else [batch, …]
  std::vector<std::int64_t> extents;  // behind these; -1: an ONNX file that does not say
};

/// Compiles the program, or opens the file, at the first use. Throws unsupported for a file without such outputs, and
/// as those.
std::vector<ForwardOutput> forward_outputs(const Model::State& model);

/// The names of the tensors that `forward` takes, input_ids among them. Opens the file at the first use.
std::vector<std::string> forward_inputs(const Model::State& model);

/// Adds what an ONNX file takes beside input_ids [batch, length] and `inputs` lack, where it has a usual value: a mask
/// of ones, types of zeros, positions from 0. Other models have these by themselves.
void add_usual_inputs(const Model::State& model, NamedTensors& inputs);

}  // namespace alate::runtime
