// Steps on packed types (several elements a byte): operands are unpacked to a byte an element, the step runs on those,
// and its results are packed.
#pragma once

#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

using RunStep = void (*)(const Step&, const Frame&);
using StepScratch = std::size_t (*)(const Step&, const Binding&, std::size_t);

/// Runs the step as it is where nothing is packed. Else `run` is given a frame whose shapes have the dtypes of the
/// carriers (tensor::carrier_of); the slots' own shapes keep the dtypes that these stand for.
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
