// Fused ops over rows and elements, and dense layers.
#include "graph/operands.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/values.h"

namespace alate::conformance {
namespace {

using graph::Dims;

Case one(const Form& form, const std::vector<Dims>& dims, graph::Attributes attributes,
         const ValueKind& values = {"numbers"}) {
  return {.op = form.op.op, .operands = operands_of(form.dtype, dims, values), .attributes = std::move(attributes)};
}

const std::vector<Dims>& row_shapes() {
  static const std::vector<Dims> shapes = {{3, 5}, {2, 3, 7}, {1, 1},  {0, 4},   {3, 1},
                                           {33},   {4, 257},  {5, 64}, {3, 1025}};
  return shapes;
}

}  // namespace

Cases like_first_cases(const Form& form) {
  Cases cases;
  const std::size_t kind = form.op.attributes_index;
  for (const Dims& dims : row_shapes()) {
    if (kind == graph::Attributes(graph::Axis{}).index()) {
      for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(dims.size()); ++axis)
        cases.push_back(one(form, {dims}, graph::Axis{axis}));
    } else if (kind == graph::Attributes(graph::Gelu{}).index()) {
      for (const bool tanh : {false, true}) cases.push_back(one(form, {dims}, graph::Gelu{tanh}));
    } else if (kind == graph::Attributes(graph::Norm{}).index()) {
      cases.push_back(one(form, {dims}, graph::Norm{1e-5}));
      cases.push_back(one(form, {dims}, graph::Norm{10}));
    } else {
      cases.push_back(one(form, {dims}, graph::NoAttributes{}));
    }
  }
  if (cases.empty()) return cases;
  graph::Attributes last = cases.back().attributes;
  cases.push_back(one(form, {{form.large / 512, 512}}, last));
  cases.push_back(one(form, {{0}}, last));
  cases.push_back(one(form, {{2, 0}}, last));
  cases.push_back(one(form, {{24, 9}}, last, {"specials"}));
  if (form.op.has(graph::kElementwise)) {
    cases.push_back(one(form, {{edge_count(form.dtype)}}, last, {"edges"}));
    cases.push_back(one(form, {{}}, last));
  }
  return cases;
}

Cases norm_cases(const Form& form) {
  Cases cases;
  for (const Dims& dims : row_shapes())
    cases.push_back(one(form, {dims, {dims.back()}, {dims.back()}}, graph::Norm{1e-5}));
  cases.push_back(one(form, {{24, 9}, {9}, {9}}, graph::Norm{1e-12}, {"specials"}));
  cases.push_back(one(form, {{form.large / 384, 384}, {384}, {384}}, graph::Norm{1e-5}));
  return cases;
}

Cases dense_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims x, std::int64_t out, const graph::Dense& dense) {
    graph::DenseOperands<Dims> dims{.x = x, .weight = {out, x.back()}};
    if (dense.has_bias) dims.bias = Dims{out};
    x.back() = out;
    if (dense.has_residual) dims.residual = x;
    cases.push_back(one(form, dims.list(), dense));
  };
  for (int number = 0; number <= static_cast<int>(graph::Activation::quick_gelu); ++number) {
    const auto activation = static_cast<graph::Activation>(number);
    add({3, 5}, 7, {true, true, activation});
    add({2, 3, 33}, 17, {number % 2 == 0, number % 3 == 0, activation});
  }
  add({5}, 3, {});
  add({0, 4}, 3, {true});
  add({3, 0}, 4, {true, true});
  add({4, 3}, 0, {true});
  add({1, 1}, 1, {});
  add({65, 130}, 97, {true, false, graph::Activation::gelu_erf});
  const std::int64_t side = form.is_for_speed() ? 1024 : 128;
  add({side, side}, side, {true});
  if (form.dtype != DType::f32) return cases;
  const std::size_t plain = cases.size();
  for (const DType half : {DType::bf16, DType::f16}) {
    add({3, 5}, 7, {true, true, graph::Activation::tanh});
    add({2, 3, 33}, 17, {true});
    add({3, 0}, 4, {true, true});
    add({0, 4}, 3, {});
    add({5}, 3, {});
    add({65, 130}, 97, {true, false, graph::Activation::gelu_erf});
    add({side, side}, side, {true});
    for (std::size_t i = plain; i < cases.size(); ++i) {
      const std::size_t place = graph::places_of<graph::DenseOperands>(graph::Dense{}).weight;
      DType& weight = cases[i].operands[place].shape.dtype;
      if (weight == DType::f32) weight = half;
    }
  }
  return cases;
}

}  // namespace alate::conformance
