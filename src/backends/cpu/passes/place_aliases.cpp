#include "backends/cpu/passes/place_aliases.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/passes/overwritten_operands.h"
#include "backends/cpu/passes/step_order.h"
#include "backends/cpu/steps/operations.h"

namespace alate::cpu {
namespace {

// One value of a chain, and the step that writes over it.
struct Overwrite {
  SlotId value;
  std::size_t step;
};

std::string described(const Step& step) {
  if (step.operation == &copy_operation()) return "the copy for another output";
  return std::string(graph::to_string(step.operation->op)) + (step.source.empty() ? "" : " (from " + step.source + ")");
}

class Placing {
 public:
  Placing(const graph::Graph& graph, Plan& plan)
      : graph_(graph), plan_(plan), order_(plan), first_writers_(plan.slots.size()), uses_(plan.slots.size()) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      for (const SlotId id : plan.steps[i].inputs) uses_[base_of(plan, id)].push_back(i);
      for (const SlotId id : plan.steps[i].outputs) {
        std::optional<std::size_t>& first = first_writers_[base_of(plan, id)];
        if (!first) first = i;
        uses_[base_of(plan, id)].push_back(i);
      }
    }
  }

  void place(std::size_t output, std::size_t parameter) {
    const SlotId to = slot_of(SlotKind::output, output), from = slot_of(SlotKind::parameter, parameter);
    std::vector<Overwrite> chain = chain_to(to, from);
    if (chain.empty()) chain = {{from, first_writers_[to].value()}};
    std::string reason = order_chain(chain, parameter);
    const bool in_place = reason.empty();
    if (in_place) {
      for (const Overwrite& each : chain) give_memory(each.value, to, output);
    }
    plan_.aliases.push_back({output, parameter, in_place, std::move(reason)});
  }

  void finish() const { order_.apply(plan_); }

 private:
  SlotId slot_of(SlotKind kind, std::size_t index) const {
    const auto is_it = [&](const Slot& slot) { return slot.kind == kind && slot.index == index; };
    return static_cast<SlotId>(std::ranges::find_if(plan_.slots, is_it) - plan_.slots.begin());
  }

  // The shortest chain of values from the parameter's slot to an output's, each made over the one before; or none.
  std::vector<Overwrite> chain_to(SlotId output, SlotId parameter) const {
    std::vector<std::optional<SlotId>> next(plan_.slots.size());  // the value that is made over a value
    std::queue<SlotId> left({output});
    while (!left.empty() && !next[parameter]) {
      const SlotId value = left.front();
      left.pop();
      for (const SlotId before : overwritten_operands(plan_, plan_.steps[first_writers_[value].value()])) {
        const bool may_be_over = before == parameter || plan_.slots[before].kind == SlotKind::arena;
        if (!may_be_over || before == value || next[before]) continue;
        next[before] = value;
        left.push(before);
      }
    }
    std::vector<Overwrite> chain;
    if (!next[parameter]) return chain;
    for (SlotId value = parameter; value != output; value = *next[value])
      chain.push_back({value, first_writers_[*next[value]].value()});
    return chain;
  }

  // Lets all other uses of each value come before the step that writes over it, or returns why that is impossible.
  std::string order_chain(const std::vector<Overwrite>& chain, std::size_t parameter) {
    const StepOrder before = order_;
    const std::string& name = graph_.parameters()[parameter].name;
    for (const auto& [value, writer] : chain) {
      const Step& update = plan_.steps[writer];
      const std::vector<SlotId> over = overwritten_operands(plan_, update);
      const bool reads_itself = std::ranges::find(over, value) != over.end();
      for (const std::size_t use : uses_[value]) {
        if (use == writer && reads_itself) continue;
        if (use != writer && order_.allows(use, writer)) {
          order_.require(use, writer);
          continue;
        }
        order_ = before;
        if (use == writer) return described(update) + " reads '" + name + "' and cannot write over it";
        return described(plan_.steps[use]) + " needs '" + name + "' as it was before " + described(update) +
               " and what that makes of it";
      }
    }
    return {};
  }

  void give_memory(SlotId value, SlotId to, std::size_t output) {
    Slot& slot = plan_.slots[value];
    slot.overwritten_by = to;
    if (slot.kind != SlotKind::arena) return;
    slot.kind = SlotKind::output;
    slot.index = output;
  }

  const graph::Graph& graph_;
  Plan& plan_;
  StepOrder order_;
  std::vector<std::optional<std::size_t>> first_writers_;  // of each slot
  std::vector<std::vector<std::size_t>> uses_;             // of each slot, directly or by views
};

}  // namespace

void place_aliases(const graph::Graph& graph, Plan& plan) {
  const auto has_alias = [](const graph::Output& output) { return output.aliases_parameter.has_value(); };
  if (std::ranges::none_of(graph.outputs(), has_alias)) return;
  Placing placing(graph, plan);
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (const auto& parameter = graph.outputs()[i].aliases_parameter) placing.place(i, *parameter);
  }
  placing.finish();
}

}  // namespace alate::cpu
