#include "backends/cpu/passes/step_order.h"

#include <functional>
#include <optional>
#include <queue>
#include <utility>

namespace alate::cpu {
namespace {

// The steps that use the present value of a slot.
struct Uses {
  std::optional<std::size_t> writer;
  std::vector<std::size_t> readers;
};

}  // namespace

StepOrder::StepOrder(const Plan& plan) : successors_(plan.steps.size()) {
  std::vector<Uses> uses(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const SlotId id : plan.steps[i].inputs) {
      Uses& use = uses[base_of(plan, id)];
      if (use.writer) require(*use.writer, i);
      use.readers.push_back(i);
    }
    for (const SlotId id : plan.steps[i].outputs) {
      Uses& use = uses[base_of(plan, id)];
      if (use.writer && *use.writer != i) require(*use.writer, i);
      for (const std::size_t reader : use.readers) {
        if (reader != i) require(reader, i);
      }
      use = {.writer = i, .readers = {}};
    }
  }
}

bool StepOrder::allows(std::size_t before, std::size_t after) const {
  std::vector<bool> is_reached(successors_.size(), false);
  std::vector<std::size_t> left = {after};
  is_reached[after] = true;
  while (!left.empty()) {
    const std::size_t step = left.back();
    left.pop_back();
    if (step == before) return false;
    for (const std::size_t next : successors_[step]) {
      if (is_reached[next]) continue;
      is_reached[next] = true;
      left.push_back(next);
    }
  }
  return true;
}

void StepOrder::apply(Plan& plan) const {
  std::vector<std::size_t> waits_for(successors_.size(), 0);
  for (const std::vector<std::size_t>& successors : successors_) {
    for (const std::size_t next : successors) ++waits_for[next];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < waits_for.size(); ++i) {
    if (waits_for[i] == 0) ready.push(i);
  }
  std::vector<Step> sorted;
  sorted.reserve(plan.steps.size());
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    sorted.push_back(std::move(plan.steps[i]));
    for (const std::size_t next : successors_[i]) {
      if (--waits_for[next] == 0) ready.push(next);
    }
  }
  plan.steps = std::move(sorted);
}

}  // namespace alate::cpu
