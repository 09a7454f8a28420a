#include "backends/cpu/planner/make_plan.h"

#include "backends/cpu/passes/join_embeddings.h"
#include "backends/cpu/passes/join_norms.h"
#include "backends/cpu/passes/quantize_results.h"
#include "backends/cpu/passes/round_results.h"
#include "backends/cpu/passes/row_groups.h"
#include "backends/cpu/passes/split_heads.h"
#include "backends/cpu/passes/sum_results.h"
#include "backends/cpu/planner/planner.h"
#include "backends/host_buffers.h"

namespace alate::cpu {

Plan plan_of(const graph::Graph& graph, backends::WeightStore* weights) {
  Plan plan = Planner(graph, weights).run();
  split_heads(plan);
  join_embeddings(plan);
  join_norms(plan);
  quantize_results(plan);
  round_results(plan);
  sum_results(plan);
  plan.row_groups = find_row_groups(plan);
  plan.inputs = backends::input_ports(graph);
  plan.outputs = backends::output_ports(graph);
  for (const Slot& slot : plan.slots) {
    if (slot.kind == SlotKind::constant) plan.weight_bytes += slot.shape.byte_count();
  }
  return plan;
}

Plan make_plan(const graph::Graph& graph, backends::WeightStore& weights) { return plan_of(graph, &weights); }

Plan make_plan_for_sizes(const graph::Graph& graph) { return plan_of(graph, nullptr); }

}  // namespace alate::cpu
