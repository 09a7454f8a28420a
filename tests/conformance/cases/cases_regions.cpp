// Ops that run regions a number of times.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {

using graph::Dims;

Cases while_loop_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const std::vector<Dims>& dims, std::int64_t most) {
    std::vector<Operand> operands = operands_of(form.dtype, dims);
    operands.insert(operands.begin(), Operand{.shape = {DType::i32, {}}, .values = {"places", most}});
    cases.push_back(
        {.op = form.op.op, .operands = operands, .attributes = graph::NoAttributes{}, .regions = {"counting", "down"}});
  };
  add({{3}}, 5);
  add({{3, 2}, {}}, 4);
  add({{0}}, 1);  // runs no time
  add({}, 9);
  add({{1025}}, 3);
  return cases;
}

Cases if_else_cases(const Form& form) {
  Cases cases;
  for (const ValueKind& chosen : {ValueKind{"ones"}, ValueKind{"numbers"}, ValueKind{"places", 1}}) {
    for (const std::vector<Dims>& dims : {std::vector<Dims>{{3}}, {{2, 3}, {}}, {{0}}, {{1025}}}) {
      std::vector<Operand> operands = operands_of(form.dtype, dims);
      operands.insert(operands.begin(), Operand{.shape = {DType::boolean, {}}, .values = chosen});
      cases.push_back({.op = form.op.op,
                       .operands = operands,
                       .attributes = graph::NoAttributes{},
                       .regions = {"same", "doubled"}});
    }
  }
  return cases;
}

Cases call_cases(const Form& form) {
  Cases cases;
  for (const std::vector<Dims>& dims : {std::vector<Dims>{{3}}, {{2, 3}, {}, {0}}, {{1025}, {3}}}) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, dims, {"bits"}),
                     .attributes = graph::NoAttributes{},
                     .regions = {"body"}});
  }
  return cases;
}

// Small integers, whose sums are exact, because a region may be anything: no tolerance fits.
Cases generic_reduce_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const std::vector<Dims>& dims, graph::Numbers axes) {
    for (const char* region : {"add", "max", "bitwise_xor", "first", "last"}) {
      std::vector<Dims> all = dims;
      all.resize(2 * dims.size());
      cases.push_back({.op = form.op.op,
                       .operands = operands_of(form.dtype, all, {"exact"}),
                       .attributes = graph::Axes{axes},
                       .regions = {region}});
    }
  };
  add({{3, 5}}, {1});
  add({{3, 5}, {3, 5}}, {0});
  add({{2, 3, 5}}, {2, 0});
  add({{3, 0}}, {1});
  add({{0, 3}}, {1});
  add({{}}, {});
  add({{7}}, {0});
  return cases;
}

}  // namespace alate::conformance
