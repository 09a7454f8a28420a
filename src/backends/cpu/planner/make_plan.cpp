#include "backends/cpu/planner/make_plan.h"

#include "backends/cpu/passes/join_embeddings.h"
#include "backends/cpu/passes/join_norms.h"
#include "backends/cpu/passes/place_aliases.h"
#include "backends/cpu/passes/quantize_results.h"
#include "backends/cpu/passes/round_results.h"
#include "backends/cpu/passes/row_groups.h"
#include "backends/cpu/passes/split_heads.h"
#include "backends/cpu/passes/sum_results.h"
#include "backends/cpu/planner/planner.h"
#include "backends/host_buffers.h"

namespace alate::cpu {

Plan plan_of(const graph::Graph& graph, backends::WeightStore* weights, CountedWeights& counted) {
  Plan plan = Planner(graph, weights, counted).run();
  split_heads(plan);
  join_embeddings(plan);
  join_norms(plan);
  quantize_results(plan);
  round_results(plan);
  sum_results(plan);
  place_aliases(graph, plan);  // after the passes that expect a slot to keep its value once it is read
  plan.row_groups = find_row_groups(plan);
  plan.inputs = backends::input_ports(graph);
  plan.outputs = backends::output_ports(graph);
  return plan;
}

Plan make_plan(const graph::Graph& graph, backends::WeightStore& weights) {
  CountedWeights counted;
  return plan_of(graph, &weights, counted);
}

Plan make_plan_for_sizes(const graph::Graph& graph) {
  CountedWeights counted;
  return plan_of(graph, nullptr, counted);
}

}  // namespace alate::cpu
