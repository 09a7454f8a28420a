// Steps on packed types (several elements per byte): operands are unpacked to one byte per element, the step runs on
// those bytes, and its results are packed again.
#pragma once

#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

using RunStep = void (*)(const Step&, const Frame&);
using StepScratch = std::size_t (*)(const Step&, const Binding&, std::size_t);

/// Runs the step directly where nothing is packed. Otherwise `run` gets a frame whose shapes have the carrier dtypes
/// (tensor::carrier_of); the slots' own shapes keep the packed dtypes.
void run_on_carriers(const Step& step, const Frame& frame, RunStep run, StepScratch scratch);
std::size_t carriers_scratch(const Step& step, const Binding& binding, std::size_t index, StepScratch scratch);

template <RunStep kRun, StepScratch kScratch = nullptr>
void run_unpacked(const Step& step, const Frame& frame) {
  run_on_carriers(step, frame, kRun, kScratch);
}
template <StepScratch kScratch>
std::size_t unpacked_scratch(const Step& step, const Binding& binding, std::size_t index) {
  return carriers_scratch(step, binding, index, kScratch);
}

}  // namespace alate::cpu
