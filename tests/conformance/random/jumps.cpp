#include "tests/conformance/random/jumps.h"

#include <algorithm>
#include <cmath>

#include "tests/conformance/cases/elements.h"

namespace alate::conformance {
namespace {

using graph::Node;
using graph::Op;

bool is_one_of(Op op, std::initializer_list<Op> ops) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

bool is_number(DType dtype) { return is_computed_float(dtype) || is_complex(dtype); }

bool reduces_by_sums(const Node& node) {
  const auto* window = std::get_if<graph::Window>(&node.attributes);
  return window == nullptr || window->reduction < graph::Reduction::max;
}

bool is_total_order(Op op) { return to_string(op).ends_with("total_order"); }

bool looks_at_zeros(const Node& node) { return is_total_order(node.op) || node.op == Op::bitcast; }

bool orders(const Node& node) { return is_one_of(node.op, {Op::arg_min_max, Op::top_k, Op::sort}); }

// The larger of two complex numbers jumps where their real parts become equal.
bool chooses_complex(const Node& node) {
  return is_one_of(node.op, {Op::max, Op::min, Op::clamp}) && is_complex(node.results[0].dtype);
}

}  // namespace

bool moves_only(const Node& node) {
  const graph::OpInfo& info = graph::op_info(node.op);
  if (chooses_complex(node)) return false;
  if (info.has(graph::kData)) return true;
  if (info.has(graph::kIndexed)) return node.op != Op::scatter_sum;
  if (node.op == Op::reduce_window) return !reduces_by_sums(node);
  return is_one_of(node.op, {Op::identity,
                             Op::neg,
                             Op::abs,
                             Op::real,
                             Op::imag,
                             Op::conj,
                             Op::complex,
                             Op::max,
                             Op::min,
                             Op::select,
                             Op::clamp,
                             Op::reduce_max,
                             Op::reduce_min,
                             Op::cumulative_max,
                             Op::cumulative_min,
                             Op::optimization_barrier,
                             Op::scheduling_barrier,
                             Op::all_reduce,
                             Op::all_gather,
                             Op::all_to_all,
                             Op::reduce_scatter,
                             Op::collective_permute,
                             Op::collective_broadcast});
}

bool rounds_first_operand(const Node& node, std::span<const Tensor> operands) {
  if (const auto* dense = std::get_if<graph::QuantizedDense>(&node.attributes)) return dense->activation_groups > 0;
  return node.op == Op::dense && operands[0].dtype() == DType::f32 && operands[1].dtype() == DType::bf16;
}

bool jumps(const Node& node) {
  if (const auto* convert = std::get_if<graph::Convert>(&node.attributes); convert && node.op == Op::convert)
    return !is_number(convert->dtype);
  return is_total_order(node.op) || chooses_complex(node) ||
         is_one_of(node.op, {Op::floor, Op::ceil, Op::round_nearest_even, Op::sign, Op::is_finite, Op::is_nan,
                             Op::equal, Op::not_equal, Op::less, Op::less_or_equal, Op::greater, Op::greater_or_equal,
                             Op::rem, Op::arg_min_max, Op::top_k, Op::sort, Op::bitcast, Op::select_and_scatter_max,
                             Op::select_and_scatter_min});
}

bool sums_whole_numbers(const Node& node) {
  return is_one_of(node.op, {Op::add, Op::sub, Op::mul, Op::reduce_sum, Op::dot_general, Op::cumulative_sum,
                             Op::scatter_sum, Op::select_and_scatter_max, Op::select_and_scatter_min, Op::conv_general,
                             Op::reduce_window, Op::reduce, Op::convert});
}

const char* wrong_place(const Node& node, const Tensor& operand) {
  const graph::OpInfo& info = graph::op_info(node.op);
  const bool moves = moves_only(node) && !looks_at_zeros(node);
  for (std::int64_t i = 0; i < operand.element_count(); ++i) {
    if (is_complex(operand.dtype())) {
      const std::complex<double> z = complex_at(operand, i);
      if (!moves && !(std::isfinite(z.real()) && std::isfinite(z.imag()))) return "an operand is not finite";
      if (looks_at_zeros(node) && (z.real() == 0 || z.imag() == 0)) return "would look at the sign of a zero";
    } else {
      const double x = float_at(operand, i);
      if (!info.has(graph::kElementwise) && !moves && !std::isfinite(x)) return "an operand is not finite";
      if (orders(node) && x == 0 && std::signbit(x)) return "may order zeros by sign";
      if (looks_at_zeros(node) && (x == 0 || std::isnan(x))) return "would look at the sign of a zero, or bits of NaN";
    }
  }
  if (is_complex(operand.dtype()) && is_one_of(node.op, {Op::log, Op::log1p, Op::sqrt, Op::rsqrt, Op::pow}))
    return "has a cut";
  return nullptr;
}

const char* wrong_places(const Node& node, std::span<const Tensor> operands) {
  if (node.op != Op::atan2) return nullptr;
  for (std::int64_t i = 0; i < operands[1].element_count(); ++i) {
    if (!(float_at(operands[1], i) > 0.1)) return "may be at the cut";
  }
  return nullptr;
}

}  // namespace alate::conformance
