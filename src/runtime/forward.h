// Model::forward, for who wants to say more about the runs.
#pragma once

#include "backends/backend.h"
#include "runtime/loaded_model.h"

namespace alate::runtime {

/// As Model::forward; `options` go to each run. Throws cancelled beside what that throws.
NamedTensors forward(const Model::State& model, const NamedTensors& inputs, const backends::RunOptions& options);

}  // namespace alate::runtime
