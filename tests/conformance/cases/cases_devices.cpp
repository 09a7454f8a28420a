// Collectives on one device, barriers, and queries of a program's devices.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Dims;
using graph::Reduction;

const std::vector<graph::Groups>& groups() {
  static const std::vector<graph::Groups> all = {{}, {{0}}};
  return all;
}

// With the attributes, over operands that are their results.
void add(Cases& cases, const Form& form, const graph::Attributes& attributes) {
  for (const Dims& dims : {Dims{3, 5}, Dims{0, 2}, Dims{1025, 1}})
    cases.push_back(
        {.op = form.op.op, .operands = operands_of(form.dtype, {dims}, {"bits"}), .attributes = attributes});
  if (form.op.max_operands == 1) return;
  cases.push_back(
      {.op = form.op.op, .operands = operands_of(form.dtype, {{3, 5}, {7, 1}}, {"bits"}), .attributes = attributes});
}

}  // namespace

Cases barrier_cases(const Form& form) {
  Cases cases;
  add(cases, form, graph::NoAttributes{});
  return cases;
}

Cases all_reduce_cases(const Form& form) {
  Cases cases;
  for (int number = 0; number <= static_cast<int>(Reduction::bitwise_xor); ++number) {
    for (const graph::Groups& group : groups())
      add(cases, form, graph::AllReduce{static_cast<Reduction>(number), group});
  }
  return cases;
}

Cases all_gather_cases(const Form& form) {
  Cases cases;
  for (const graph::Groups& group : groups()) add(cases, form, graph::AllGather{1, group});
  return cases;
}

Cases all_to_all_cases(const Form& form) {
  Cases cases;
  for (const graph::Groups& group : groups()) add(cases, form, graph::AllToAll{0, 1, 1, group});
  return cases;
}

Cases reduce_scatter_cases(const Form& form) {
  Cases cases;
  for (int number = 0; number <= static_cast<int>(Reduction::bitwise_xor); ++number) {
    for (const graph::Groups& group : groups())
      add(cases, form, graph::ReduceScatter{static_cast<Reduction>(number), 0, group});
  }
  return cases;
}

Cases collective_permute_cases(const Form& form) {
  Cases cases;
  add(cases, form, graph::CollectivePermute{{}});
  add(cases, form, graph::CollectivePermute{{{0, 0}}});
  return cases;
}

Cases collective_broadcast_cases(const Form& form) {
  Cases cases;
  for (const graph::Groups& group : groups()) add(cases, form, graph::CollectiveBroadcast{group});
  return cases;
}

Cases device_id_cases(const Form& form) { return {{.op = form.op.op, .attributes = graph::NoAttributes{}}}; }

}  // namespace alate::conformance
