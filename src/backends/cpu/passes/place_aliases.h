// Puts outputs into the memory of the donated parameters that they alias, where the steps allow it.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Fills plan.aliases. `graph` is the plan's graph, and no later pass adds or moves steps.
///
/// An output is often made from its parameter by a chain of updates: parameter, intermediate values, output. All get
/// the output's memory, and every step that reads a value of the chain runs before the step that writes over it.
/// Otherwise the output only takes the parameter's memory when all that read the parameter have run. Where neither is
/// possible the alias is a copy, and its steps stay as they were.
///
/// A slot of a parameter keeps pointing at the caller's input, so that a run with two buffers is right as well: its
/// first update then copies.
void place_aliases(const graph::Graph& graph, Plan& plan);

}  // namespace alate::cpu
