// Element-wise ops.
#include <algorithm>

#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/values.h"

namespace alate::conformance {
namespace {

using graph::Dims;
using graph::OpInfo;

std::int64_t power(std::int64_t base, std::size_t exponent) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result = std::min<std::int64_t>(result * base, 100000);
  return result;
}

Case elementwise_case(const Form& form, std::size_t count, Dims dims, ValueKind values,
                      graph::Attributes attributes = graph::NoAttributes{}) {
  return {.op = form.op.op,
          .operands = operands_of(form.dtype, std::vector<Dims>(count, std::move(dims)), values),
          .attributes = std::move(attributes)};
}

}  // namespace

Cases elementwise_cases(const Form& form) {
  const std::size_t count = form.op.min_operands;
  Cases cases;
  for (const Dims& dims : {Dims{5, 3}, Dims{2, 3, 5, 7}, Dims{}, Dims{0}, Dims{3, 0, 2}, Dims{1}, Dims{1, 1, 1},
                           Dims{7}, Dims{33}, Dims{1025}, Dims{form.large}})
    cases.push_back(elementwise_case(form, count, dims, {"numbers"}));
  cases.push_back(elementwise_case(form, count, {power(edge_count(form.dtype), count)}, {"edges"}));
  cases.push_back(elementwise_case(form, count, {3, 257}, {"wide"}));
  cases.push_back(elementwise_case(form, count, {67}, {"exact"}));
  cases.push_back(elementwise_case(form, count, {65}, {"positive"}));
  return cases;
}

Cases compare_cases(const Form& form) { return elementwise_cases(form); }

Cases real_part_cases(const Form& form) { return elementwise_cases(form); }

Cases complex_cases(const Form& form) { return elementwise_cases(form); }

Cases clamp_cases(const Form& form) {
  Cases cases = elementwise_cases(form);
  for (const Dims& dims : {Dims{5, 3}, Dims{0}, Dims{1025}}) {
    for (const auto& [low, high] : {std::pair<Dims, Dims>{{}, {}}, {dims, {}}, {{}, dims}}) {
      cases.push_back({.op = form.op.op,
                       .operands = operands_of(form.dtype, {low, dims, high}),
                       .attributes = graph::NoAttributes{}});
    }
  }
  return cases;
}

Cases bitcast_cases(const Form& form) {
  Cases cases;
  for (const DType to : all_dtypes()) {
    for (const Dims& dims :
         {Dims{5, 3}, Dims{}, Dims{0, 2}, Dims{2}, Dims{4}, Dims{8}, Dims{3, 16}, Dims{2, 32}, Dims{3, 64}, Dims{1025}})
      cases.push_back(elementwise_case(form, 1, dims, {"bits"}, graph::Convert{to}));
  }
  return cases;
}

Cases select_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& condition, const Dims& dims, const ValueKind& values) {
    std::vector<Operand> operands = operands_of(form.dtype, {dims, dims}, values);
    operands.insert(operands.begin(), Operand{.shape = {DType::boolean, condition}});
    cases.push_back({.op = form.op.op, .operands = operands, .attributes = graph::NoAttributes{}});
  };
  add({5, 3}, {5, 3}, {"numbers"});
  add({}, {5, 3}, {"numbers"});
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{2, 3, 5, 7}, Dims{33}, Dims{form.large}})
    add(dims, dims, {"numbers"});
  add({}, {0, 4}, {"numbers"});
  add({}, {1025}, {"bits"});
  add({edge_count(form.dtype)}, {edge_count(form.dtype)}, {"edges"});
  return cases;
}

Cases convert_cases(const Form& form) {
  Cases cases;
  for (const DType to : all_dtypes()) {
    for (const Dims& dims : {Dims{5, 3}, Dims{}, Dims{0}, Dims{259}})
      cases.push_back(elementwise_case(form, 1, dims, {"numbers"}, graph::Convert{to}));
    cases.push_back(elementwise_case(form, 1, {edge_count(form.dtype)}, {"edges"}, graph::Convert{to}));
    cases.push_back(elementwise_case(form, 1, {1025}, {"wide"}, graph::Convert{to}));
  }
  cases.push_back(elementwise_case(form, 1, {form.large}, {"numbers"}, graph::Convert{DType::f32}));
  cases.push_back(elementwise_case(form, 1, {form.large}, {"numbers"}, graph::Convert{DType::f64}));
  return cases;
}

}  // namespace alate::conformance
