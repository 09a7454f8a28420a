#include "tests/conformance/tolerances.h"

#include <algorithm>
#include <iterator>

namespace alate::conformance {
namespace {

using graph::Op;

struct Row {
  Op op;
  Tolerance tolerance;
};

// An op that has no row is exact; fused ones, which round several times, have kFused. Halves are computed in f32 or
// better and rounded once, which is one unit at most.
constexpr Tolerance kFused{Bound::of_largest, 2, 32, 32, false};
constexpr Row kRows[] = {
    // Functions: what vector_math.h promises for f32, and what good libraries reach.
    {Op::exp, {Bound::of_element, 1, 3, 3}},
    {Op::expm1, {Bound::of_element, 1, 4, 4}},
    {Op::log, {Bound::of_element, 1, 3, 3}},
    {Op::log1p, {Bound::of_element, 1, 4, 4}},
    {Op::logistic, {Bound::of_element, 1, 4, 4}},
    {Op::tanh, {Bound::of_element, 1, 5, 5}},
    {Op::erf, {Bound::of_element, 1, 5, 5}},
    {Op::sin, {Bound::of_element, 1, 4, 4}},
    {Op::cos, {Bound::of_element, 1, 4, 4}},
    {Op::tan, {Bound::of_element, 1, 5, 5}},
    {Op::cbrt, {Bound::of_element, 1, 4, 4}},
    {Op::atan2, {Bound::of_element, 1, 5, 5}},
    {Op::rsqrt, {Bound::of_element, 1, 2, 2}},
    {Op::pow, {Bound::of_element, 1, 4, 4}},
    // Which zero of +0 and -0 is the larger one is not said.
    {Op::max, {Bound::exact, 0, 0, 0, false}},
    {Op::min, {Bound::exact, 0, 0, 0, false}},
    {Op::reduce_max, {Bound::exact, 0, 0, 0, false}},
    {Op::reduce_min, {Bound::exact, 0, 0, 0, false}},
    {Op::clamp, {}},
    // Sums in any order.
    {Op::reduce_sum, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::dot_general, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::reduce_product, {Bound::of_magnitudes, 1, 64, 64, false}},
    {Op::cumulative_sum, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::cumulative_product, {Bound::of_magnitudes, 1, 64, 64, false}},
    {Op::scatter_sum, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::conv_general, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::reduce_window, {Bound::of_magnitudes, 1, 16, 16, false}},
    {Op::dense, {Bound::of_magnitudes, 2, 16, 16, false}},
    {Op::ragged_pool, {Bound::of_magnitudes, 2, 16, 16, false}},
    // Of many terms each, or of terms that cancel.
    {Op::select_and_scatter_max, {Bound::of_largest, 1, 16, 16, false}},
    {Op::select_and_scatter_min, {Bound::of_largest, 1, 16, 16, false}},
    {Op::fft, {Bound::of_largest, 1, 64, 64, false}},
    {Op::batch_norm_inference, {Bound::of_largest, 2, 32, 32, false}},
    {Op::batch_norm_training, {Bound::of_largest, 2, 32, 32, false}},
    {Op::batch_norm_gradient, {Bound::of_largest, 2, 64, 64, false}},
    // Fused ops.
    {Op::log_softmax, {Bound::of_largest, 2, 16, 16, false}},
    {Op::rms_norm, {Bound::of_element, 2, 16, 16, false}},
    {Op::quantized_embedding, {}},
    {Op::rope, {Bound::of_largest, 2, 4, 4, false}},
    {Op::gelu, {Bound::of_largest, 2, 8, 8, false}},
    {Op::silu, {Bound::of_element, 2, 8, 8, false}},
    {Op::softmax, {Bound::of_element, 2, 32, 32, false}},
    {Op::normalize, {Bound::of_element, 2, 16, 16, false}},
    {Op::attention, {Bound::of_largest, 2, 64, 64, false}},
    {Op::attention_gradient, {Bound::of_largest, 2, 128, 128, false}},
    {Op::ragged_attention, {Bound::of_largest, 2, 64, 64, false}},
    {Op::paged_attention, {Bound::of_largest, 2, 64, 64, false}},
    {Op::write_pages, {}},
};

bool is_complex_valued(const Case& subject) {
  return !subject.operands.empty() && (is_complex(subject.operands[0].shape.dtype) || subject.op == Op::complex);
}

}  // namespace

double Tolerance::ulps(DType dtype) const {
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return halves;
    case DType::f32:
    case DType::c64: return singles;
    case DType::f64:
    case DType::c128: return doubles;
    default: return 0;
  }
}

BackendTraits traits_of(std::string_view backend) {
  if (backend == "xla")
    return {.flushes_subnormals = true,
            .complex_edges = false,
            .complex_factor = 16,
            .function_factor = 2,
            .powers_of_subnormals = false,
            .keeps_nan_bits = false};
  return {};
}

Tolerance tolerance_of(const Case& subject, const BackendTraits& traits) {
  Tolerance tolerance = tolerance_of(subject);
  tolerance.any_nan = !traits.keeps_nan_bits;
  const graph::OpInfo& info = graph::op_info(subject.op);
  const bool is_function = info.has(graph::kElementwise) && info.kind == graph::OpKind::standard;
  const double factor = is_complex_valued(subject) ? traits.complex_factor : is_function ? traits.function_factor : 1;
  tolerance.at_least_one =
      traits.complex_factor > 1 && is_function && is_complex_valued(subject) && subject.operands.size() == 1;
  for (double* ulps : {&tolerance.singles, &tolerance.doubles}) *ulps *= factor;
  return tolerance;
}

Tolerance tolerance_of(const Case& subject) {
  constexpr Tolerance kUnordered{Bound::exact, 0, 0, 0, false};
  const auto* window = std::get_if<graph::Window>(&subject.attributes);
  if (window != nullptr && window->reduction >= graph::Reduction::max) return kUnordered;
  // 12 bits of the greatest operand, twice.
  constexpr Tolerance kRounded{Bound::of_largest, 4, 8192, 8192, false};
  const auto* attention = std::get_if<graph::Attention>(&subject.attributes);
  if (attention != nullptr && attention->rounds_operands) return kRounded;
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.op == subject.op; });
  if (row != std::end(kRows)) return row->tolerance;
  // Complex numbers are computed by formulas of several roundings.
  const graph::OpInfo& info = graph::op_info(subject.op);
  if (is_complex_valued(subject) && info.has(graph::kElementwise) && info.kind == graph::OpKind::standard)
    return {Bound::of_element, 4, 4, 4, false};
  return info.kind == graph::OpKind::fused ? kFused : Tolerance{};
}

}  // namespace alate::conformance
