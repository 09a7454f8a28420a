#include "tests/conformance/cases/cases.h"

#include <algorithm>
#include <set>

#include "alate/error.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/cases/module.h"

namespace alate::conformance {
namespace {

constexpr std::int64_t kSmall = 5000;         // elements of cases that are given again in variations
constexpr std::size_t kVaried = 3;            // so many of them
constexpr std::int64_t kLargestNamed = 4096;  // extent of a named dim

Cases generate(const Form& form) {
  switch (form.op.op) {
#define ALATE_LEAF_OP(name, ...) \
  case graph::Op::name: return {};
#define ALATE_OP(name, arity, attributes, rule, ...) \
  case graph::Op::name: return rule##_cases(form);
#define ALATE_MULTI_OP ALATE_OP
#define ALATE_REGION_OP ALATE_OP
#define ALATE_FUSED_OP ALATE_OP
#define ALATE_MULTI_FUSED_OP ALATE_OP
#include "graph/ops.def"
  }
  throw make_error(ErrorCode::internal, "an op is not in the op table");
}

Cases valid_cases(const Form& form) {
  Cases cases = generate(form);
  std::erase_if(cases, [](const Case& subject) { return !results_of(subject); });
  return cases;
}

class Renamer {
 public:
  Renamer(std::int64_t extent, bool every) : extent_(extent), every_(every) {}
  void apply(Dim& dim) const {
    if (dim.is_number() && (every_ || dim.number() == extent_) && dim.number() <= kLargestNamed)
      dim = Dim::of_id(static_cast<DimId>(dim.number()));
  }
  void apply(graph::Dims& dims) const {
    for (Dim& dim : dims) apply(dim);
  }
  template <typename Other>
  void apply(Other&) const {}
  Case operator()(Case subject) const {
    for (Operand& operand : subject.operands) apply(operand.shape.dims);
    std::visit(
        [&]<typename Struct>(Struct& attribute) {
          std::apply([&](const auto&... field) { (apply(attribute.*field.member), ...); }, Struct::fields());
        },
        subject.attributes);
    return subject;
  }

 private:
  std::int64_t extent_;
  bool every_;
};

void add_named(Cases& cases, const Case& subject) {
  const Case all_named = Renamer(0, true)(subject);
  if (all_named != subject && results_of(all_named)) return cases.push_back(all_named);
  std::set<std::int64_t> extents;
  for (const Operand& operand : subject.operands) {
    for (const Dim dim : operand.shape.dims) {
      if (dim.is_number()) extents.insert(dim.number());
    }
  }
  for (const std::int64_t extent : extents) {
    const Case named = Renamer(extent, false)(subject);
    if (named != subject && results_of(named)) cases.push_back(named);
  }
}

void add_variations(Cases& cases, const Case& subject) {
  add_named(cases, subject);
  for (std::size_t place = 0; place < subject.operands.size(); ++place) {
    Case varied = subject;
    varied.operands[place].is_constant = true;
    cases.push_back(varied);
    if (subject.operands[place].shape.rank() == 0) continue;
    for (const View view : {View::transposed, View::strided, View::broadcast}) {
      varied = subject;
      varied.operands[place].view = view;
      cases.push_back(varied);
    }
  }
  Case constant = subject;
  for (Operand& operand : constant.operands) operand.is_constant = true;
  cases.push_back(constant);
}

bool has_named_dims(const Case& subject) {
  return std::any_of(subject.operands.begin(), subject.operands.end(),
                     [](const Operand& operand) { return !operand.shape.is_static(); });
}

bool has_sequences(const Case& subject) {
  return std::any_of(subject.operands.begin(), subject.operands.end(),
                     [](const Operand& operand) { return operand.values.name == "starts"; });
}

}  // namespace

Cases cases_of(const graph::OpInfo& op, DType dtype, std::uint64_t seed, std::int64_t large) {
  Cases cases = valid_cases({op, dtype, large});
  const std::size_t given = cases.size();
  std::size_t varied = 0;
  for (std::size_t i = 0; i < given && varied < kVaried; ++i) {
    const Case subject = cases[i];
    const std::int64_t elements = elements_of(subject);
    if (elements < 2 || elements > kSmall || has_named_dims(subject)) continue;
    if (has_sequences(subject)) {
      add_named(cases, subject);  // values of sequences go by places that a view would change
    } else {
      add_variations(cases, subject);
    }
    ++varied;
  }
  for (Case& subject : cases) subject.seed = seed;
  return cases;
}

namespace {

// Of operands and results.
std::int64_t elements_moved(const Case& subject) {
  std::int64_t elements = elements_of(subject);
  const std::vector<Shape> results = results_of(subject).value();
  for (const Shape& result : results) elements += result.is_static() ? result.element_count() : 0;
  return elements;
}

}  // namespace

Cases large_cases(const graph::OpInfo& op, DType dtype, std::int64_t large) {
  Cases cases = valid_cases({op, dtype, large});
  std::int64_t most = 0;
  for (const Case& subject : cases) most = std::max(most, elements_moved(subject));
  std::erase_if(cases, [&](const Case& subject) { return elements_moved(subject) < most / 2; });
  return cases;
}

std::vector<Operand> operands_of(DType dtype, const std::vector<graph::Dims>& dims, const ValueKind& values) {
  std::vector<Operand> operands;
  for (const graph::Dims& extents : dims) operands.push_back({.shape = {dtype, extents}, .values = values});
  return operands;
}

bool has_specials(DType dtype) { return is_computed_float(dtype) || is_complex(dtype); }

}  // namespace alate::conformance
