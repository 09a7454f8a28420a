// From a graph to a plan: the planner makes steps node by node, then passes improve them.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Compiles a graph whose ops are all in the table. `weights` provides and keeps the weights' bytes.
Plan make_plan(const graph::Graph& graph, backends::WeightStore& weights);

/// The same plan without weights, which are neither read nor packed: for binding only, not for running.
Plan make_plan_for_sizes(const graph::Graph& graph);

}  // namespace alate::cpu
