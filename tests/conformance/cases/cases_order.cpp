// Ops that compare or accumulate along an axis.
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/values.h"

namespace alate::conformance {
namespace {

using graph::Dims;

Case along(const Form& form, Dims dims, graph::Attributes attributes, const char* values) {
  return {.op = form.op.op,
          .operands = operands_of(form.dtype, {std::move(dims)}, {values}),
          .attributes = std::move(attributes)};
}

}  // namespace

Cases arg_min_max_cases(const Form& form) {
  Cases cases;
  for (const bool is_min : {false, true}) {
    cases.push_back(along(form, {3, 5}, graph::ArgMinMax{1, DType::i32, is_min}, "exact"));
    cases.push_back(along(form, {3, 5}, graph::ArgMinMax{0, DType::i64, is_min}, "exact"));
    cases.push_back(along(form, {2, 7, 3}, graph::ArgMinMax{1, DType::u8, is_min}, "exact"));
    cases.push_back(along(form, {3, 0}, graph::ArgMinMax{1, DType::i32, is_min}, "exact"));
    cases.push_back(along(form, {0, 3}, graph::ArgMinMax{1, DType::i32, is_min}, "exact"));
    cases.push_back(along(form, {1}, graph::ArgMinMax{0, DType::i32, is_min}, "exact"));
    cases.push_back(along(form, {edge_count(form.dtype)}, graph::ArgMinMax{0, DType::i32, is_min}, "edges"));
    cases.push_back(along(form, {9, 40}, graph::ArgMinMax{1, DType::i32, is_min}, "specials"));
    cases.push_back(along(form, {40, 9}, graph::ArgMinMax{0, DType::i32, is_min}, "specials"));
    cases.push_back(along(form, {form.large}, graph::ArgMinMax{0, DType::i32, is_min}, "numbers"));
    cases.push_back(along(form, {65, 1025}, graph::ArgMinMax{0, DType::i32, is_min}, "wide"));
  }
  return cases;
}

Cases cumulative_cases(const Form& form) {
  Cases cases;
  for (const bool reverse : {false, true}) {
    for (const bool exclusive : {false, true}) {
      cases.push_back(along(form, {3, 5}, graph::Cumulative{1, reverse, exclusive}, "numbers"));
      cases.push_back(along(form, {3, 5}, graph::Cumulative{0, reverse, exclusive}, "exact"));
      cases.push_back(along(form, {2, 7, 3}, graph::Cumulative{1, reverse, exclusive}, "exact"));
      cases.push_back(along(form, {0}, graph::Cumulative{0, reverse, exclusive}, "numbers"));
      cases.push_back(along(form, {3, 0}, graph::Cumulative{0, reverse, exclusive}, "numbers"));
      cases.push_back(along(form, {1}, graph::Cumulative{0, reverse, exclusive}, "numbers"));
      cases.push_back(along(form, {4, 33}, graph::Cumulative{1, reverse, exclusive}, "specials"));
    }
  }
  cases.push_back(along(form, {form.large / 64, 64}, graph::Cumulative{1, false, false}, "numbers"));
  cases.push_back(along(form, {64, form.large / 64}, graph::Cumulative{0, false, false}, "numbers"));
  return cases;
}

Cases top_k_cases(const Form& form) {
  Cases cases;
  cases.push_back(along(form, {3, 9}, graph::TopK{4}, "exact"));
  cases.push_back(along(form, {9}, graph::TopK{9}, "numbers"));
  cases.push_back(along(form, {2, 3, 5}, graph::TopK{1}, "numbers"));
  cases.push_back(along(form, {9}, graph::TopK{0}, "numbers"));
  cases.push_back(along(form, {0, 4}, graph::TopK{2}, "numbers"));
  cases.push_back(along(form, {3, 0}, graph::TopK{0}, "numbers"));
  cases.push_back(along(form, {edge_count(form.dtype)}, graph::TopK{edge_count(form.dtype)}, "edges"));
  cases.push_back(along(form, {7, 40}, graph::TopK{40}, "specials"));
  cases.push_back(along(form, {3, form.large / 3}, graph::TopK{50}, "numbers"));
  return cases;
}

Cases sort_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& dims, std::int64_t axis, const char* values, const char* order) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {dims}, {values}),
                     .attributes = graph::Sort{axis, true},
                     .regions = {order}});
    // As what is carried along with keys of which many are equal.
    std::vector<Operand> carried = operands_of(form.dtype, {dims, dims}, {values});
    carried[0] = {.shape = {DType::i32, dims}, .values = {"exact"}};
    cases.push_back({.op = form.op.op, .operands = carried, .attributes = graph::Sort{axis, true}, .regions = {order}});
  };
  for (const char* order : {"less", "greater"}) {
    add({9}, 0, "exact", order);
    add({3, 17}, 1, "exact", order);
    add({17, 3}, 0, "numbers", order);
    add({2, 5, 3}, 1, "exact", order);
    add({0}, 0, "exact", order);
    add({3, 0}, 0, "exact", order);
    add({1}, 0, "exact", order);
    add({1025}, 0, "exact", order);
  }
  if (form.is_for_speed()) add({form.large / 8}, 0, "numbers", "less");
  add({edge_count(form.dtype)}, 0, "edges", "less_total_order");
  add({40, 7}, 0, "specials", "greater_total_order");
  return cases;
}

}  // namespace alate::conformance
