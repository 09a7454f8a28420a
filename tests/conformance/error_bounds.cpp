#include "tests/conformance/error_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/random/jumps.h"
#include "tests/conformance/tolerances.h"

namespace alate::conformance {
namespace {

using graph::Node;
using graph::Op;

constexpr std::size_t kVariants = 6;
constexpr double kSafety = 16;            // between what a few random errors did and the worst that they can do
constexpr double kLargestFloat = 1e4;     // f16 ends at 65504; nobody may overflow in the middle of an op
constexpr double kSmallestFloat = 1e-30;  // what is not 0 is far from where kernels may give 0
constexpr std::size_t kMostRounds = 32;

bool has_errors(DType dtype) { return is_computed_float(dtype) || is_complex(dtype); }

std::complex<double> number_at(const Tensor& tensor, std::int64_t i) {
  return is_complex(tensor.dtype()) ? complex_at(tensor, i) : float_at(tensor, i);
}
void set_number(Tensor& tensor, std::int64_t i, std::complex<double> value) {
  if (is_complex(tensor.dtype())) return set_complex(tensor, i, value);
  set_float(tensor, i, value.real());
}
bool is_finite(std::complex<double> value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = Tensor::uninitialized(tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), copy.mutable_bytes().begin());
  return copy;
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const double size = std::abs(number_at(tensor, i));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}

// For sums of products, whose terms may cancel.
std::vector<Tensor> magnitudes_of(std::span<const Tensor> operands) {
  std::vector<Tensor> magnitudes;
  for (const Tensor& operand : operands) {
    magnitudes.push_back(has_errors(operand.dtype()) ? copy_of(operand) : operand);
    for (std::int64_t i = 0; has_errors(operand.dtype()) && i < operand.element_count(); ++i) {
      const std::complex<double> z = number_at(operand, i);
      set_number(magnitudes.back(), i, std::abs(z.real()) + std::abs(z.imag()));
    }
  }
  return magnitudes;
}

bool is_whole(const Tensor& tensor, double most) {
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::complex<double> z = number_at(tensor, i);
    for (const double part : {z.real(), z.imag()}) {
      if (!(std::abs(part) <= most) || part != std::floor(part)) return false;
    }
  }
  return true;
}

double between(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

class Step {
 public:
  Step(const Node& node, std::span<const Tracked> operands, std::span<const Shape> shapes, const graph::DimValues& dims,
       Random& random)
      : node_(node), operands_(operands), shapes_(shapes), dims_(dims), random_(random) {
    Case subject{.op = node.op, .attributes = node.attributes};
    for (const Tracked& operand : operands) {
      values_.push_back(operand.value);
      certain_ = certain_ && operand.is_certain();
      subject.operands.push_back({.shape = operand.value.shape()});
    }
    tolerance_ = tolerance_of(subject);
    if (node.op == Op::reduce) tolerance_ = {Bound::of_magnitudes, 8, 64, 64, false};
  }

  std::vector<Tracked> run() {
    check_operands();
    const std::vector<Tensor> results = compute(values_);
    std::vector<Tracked> tracked;
    for (const Tensor& result : results) tracked.push_back({result, {}});
    if (is_certain(results)) return tracked;
    const std::vector<Tensor> magnitudes = magnitudes_of_results();
    const bool moves = moves_only(node_) && tolerance_.bound == Bound::exact;
    for (std::size_t v = 0; v < kVariants; ++v) {
      const std::vector<Tensor> varied = compute(varied_operands(v));
      for (std::size_t i = 0; i < varied.size(); ++i) {
        if (!has_errors(varied[i].dtype())) continue;
        const Tensor* magnitude = magnitudes.empty() ? nullptr : &magnitudes[i];
        tracked[i].variants.push_back(moves ? varied[i] : with_errors(varied[i], magnitude));
      }
    }
    for (const Tracked& result : tracked) check_result(result);
    return tracked;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw make_error(ErrorCode::invalid_argument, to_string(node_.op), ": ", why);
  }

  std::vector<Tensor> compute(std::span<const Tensor> operands) const {
    return graph::interpret_op(node_.op, node_.attributes, node_.regions, operands, shapes_, dims_,
                               base::Cancellation::never());
  }

  static bool is_extreme(std::complex<double> value) {
    const double size = std::abs(value);
    return std::isfinite(size) && (size > kLargestFloat || (size > 0 && size < kSmallestFloat));
  }

  void check_operands() const {
    const bool computes = !moves_only(node_) && !jumps(node_);
    for (const Tracked& operand : operands_) {
      if (!has_errors(operand.value.dtype())) continue;
      if (!operand.is_certain() && jumps(node_)) refuse("jumps, and an operand is not certain");
      if (const char* why = wrong_place(node_, operand.value)) refuse(why);
      for (std::int64_t i = 0; computes && i < operand.value.element_count(); ++i) {
        if (is_extreme(number_at(operand.value, i))) refuse("an operand is too large or too small");
      }
    }
    if (const char* why = wrong_places(node_, values_)) refuse(why);
    if (!operands_.empty() && !operands_[0].is_certain() && rounds_first_operand(node_, values_))
      refuse("rounds an operand that is not certain");
    // The variants of x / x do not show it: their errors are equal, and cancel.
    if (node_.op == Op::div && may_vanish(operands_[1])) refuse("may divide by zero");
  }

  // Whether an element is within reach of its errors.
  static bool may_vanish(const Tracked& operand) {
    for (const Tensor& variant : operand.variants) {
      for (std::int64_t i = 0; i < variant.element_count(); ++i) {
        const std::complex<double> value = number_at(operand.value, i);
        if (std::abs(number_at(variant, i) - value) * kSafety > std::abs(value)) return true;
      }
    }
    return false;
  }

  // Whether every backend must give these bits: nothing is rounded.
  bool is_certain(std::span<const Tensor> results) const {
    if (!certain_) {
      return std::none_of(results.begin(), results.end(), [](const Tensor& t) { return has_errors(t.dtype()); });
    }
    if ((moves_only(node_) || jumps(node_)) && tolerance_.bound == Bound::exact) return true;
    bool computes = false;
    for (const Tensor& result : results) computes = computes || has_errors(result.dtype());
    if (!computes) return true;
    if (!sums_whole_numbers(node_)) return false;
    // Sums and products of integers that fit into the significand, whatever the order.
    const auto fits = [](const Tensor& tensor) {
      return !has_errors(tensor.dtype()) || is_whole(tensor, std::ldexp(1.0, fraction_bits(tensor.dtype())));
    };
    if (!std::all_of(values_.begin(), values_.end(), fits)) return false;
    const std::vector<Tensor> magnitudes = compute(magnitudes_of(values_));
    return std::all_of(magnitudes.begin(), magnitudes.end(), fits) && std::all_of(results.begin(), results.end(), fits);
  }

  std::vector<Tensor> magnitudes_of_results() const {
    if (tolerance_.bound != Bound::of_magnitudes) return {};
    return compute(magnitudes_of(values_));
  }

  // Ops of several roundings also get operands with errors of their own: their inner results are off by no less.
  std::vector<Tensor> varied_operands(std::size_t v) {
    const graph::OpInfo& info = graph::op_info(node_.op);
    const bool is_single = info.has(graph::kElementwise) && info.kind == graph::OpKind::standard;
    std::vector<Tensor> varied;
    // Of sums within the op, whose errors may all have one sign.
    const auto ulps_of = [&](DType dtype) { return std::max(tolerance_.ulps(dtype) / 8, 1.0); };
    for (const Tracked& operand : operands_) {
      varied.push_back(operand.is_certain() ? operand.value : operand.variants[v]);
      if (!is_single && !jumps(node_) && tolerance_.bound != Bound::exact && has_errors(operand.value.dtype())) {
        Tensor off = copy_of(varied.back());
        const double ulps = ulps_of(off.dtype());
        for (std::int64_t i = 0; i < off.element_count(); ++i) add_error(off, i, std::abs(number_at(off, i)), ulps);
        varied.back() = off;
      }
    }
    return varied;
  }

  void add_error(Tensor& tensor, std::int64_t i, double size, double ulps) {
    const std::complex<double> value = number_at(tensor, i);
    if (!is_finite(value)) return;
    const double unit = unit_of(tensor.dtype(), size) * ulps;
    const double real = between(random_, -unit, unit);
    const double imaginary = is_complex(tensor.dtype()) ? between(random_, -unit, unit) : 0;
    if (value != 0.0 || tolerance_.bound != Bound::of_element)
      set_number(tensor, i, value + std::complex<double>(real, imaginary));
  }

  Tensor with_errors(const Tensor& result, const Tensor* magnitudes) {
    Tensor off = copy_of(result);
    // A pass may merge ops and a kernel keep more digits between them: even what is rounded once may be one unit off.
    const double ulps = std::max(tolerance_.ulps(result.dtype()), 1.0);
    const double largest = std::max(1.0, largest_of(result));
    for (std::int64_t i = 0; i < off.element_count(); ++i) {
      double size = std::abs(number_at(result, i));
      if (tolerance_.bound == Bound::of_largest) size = largest;
      if (tolerance_.bound == Bound::of_magnitudes) size = std::abs(number_at(*magnitudes, i));
      add_error(off, i, size, ulps);
    }
    return off;
  }

  void check_result(const Tracked& result) const {
    if (result.is_certain()) return;
    const DType dtype = result.value.dtype();
    const bool is_half = dtype == DType::f16 || dtype == DType::bf16;
    const double most = std::max(largest_of(result.value), 1e-3) * (is_half ? 0x1p-3 : 0x1p-10);
    for (std::int64_t i = 0; i < result.value.element_count(); ++i) {
      const std::complex<double> value = number_at(result.value, i);
      if (!is_finite(value) || is_extreme(value)) refuse("a result is too large or too small, or not a number");
      for (const Tensor& variant : result.variants) {
        const std::complex<double> other = number_at(variant, i);
        if (!is_finite(other) || std::abs(other - value) > most) refuse("small errors have large effects");
      }
    }
  }

  const Node& node_;
  std::span<const Tracked> operands_;
  std::span<const Shape> shapes_;
  const graph::DimValues& dims_;
  Random& random_;
  std::vector<Tensor> values_;
  bool certain_ = true;
  Tolerance tolerance_;
};

bool holds(const Tracked& condition) { return bits_at(condition.value, 0) != 0; }

std::vector<Tracked> track_while(const Node& node, std::vector<Tracked> values, const graph::DimValues& dims,
                                 Random& random) {
  for (std::size_t round = 0; holds(track_graph(*node.regions[0], values, dims, random).front()); ++round) {
    if (round == kMostRounds) throw make_error(ErrorCode::invalid_argument, "while_loop: runs for too long");
    values = track_graph(*node.regions[1], values, dims, random);
  }
  return values;
}

}  // namespace

std::vector<Tracked> track_op(const Node& node, std::span<const Tracked> operands, std::span<const Shape> shapes,
                              const graph::DimValues& dims, Random& random) {
  if (node.op == Op::call) return track_graph(*node.regions[0], operands, dims, random);
  if (node.op == Op::if_else)
    return track_graph(*node.regions[holds(operands[0]) ? 0 : 1], operands.subspan(1), dims, random);
  if (node.op == Op::while_loop) return track_while(node, {operands.begin(), operands.end()}, dims, random);
  return Step(node, operands, shapes, dims, random).run();
}

std::vector<Tracked> track_graph(const graph::Graph& graph, std::span<const Tracked> inputs,
                                 const graph::DimValues& dims, Random& random) {
  std::vector<std::vector<Tracked>> values;
  const std::vector<std::uint32_t> uses = graph::use_counts(graph);
  for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    values.emplace_back();
    if (uses[id] == 0) continue;
    if (graph::op_info(node.op).kind == graph::OpKind::leaf) {
      const auto place = static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index);
      values.back() = {node.op == Op::parameter ? inputs[place]
                                                : Tracked{graph::materialize(*graph.constants()[place]), {}}};
      continue;
    }
    std::vector<Tracked> operands;
    for (const graph::Value operand : node.operands) operands.push_back(values[operand.node][operand.result]);
    std::vector<Shape> shapes;
    for (const Shape& shape : node.results) shapes.push_back(dims(shape));
    values.back() = track_op(node, operands, shapes, dims, random);
  }
  std::vector<Tracked> outputs;
  for (const graph::Output& output : graph.outputs()) outputs.push_back(values[output.value.node][output.value.result]);
  return outputs;
}

std::optional<std::string> difference(const Tensor& found, const Tracked& wanted) {
  // Which zero comes of +0 and -0 is not said for every op, nor which part of a complex number is NaN.
  const Tolerance exact{Bound::exact, 0, 0, 0, false};
  if (wanted.is_certain() || found.shape() != wanted.value.shape())
    return difference(found, wanted.value, nullptr, exact);
  const std::int64_t count = wanted.value.element_count();
  std::vector<double> varies(static_cast<std::size_t>(count));
  double mean = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    double& most = varies[static_cast<std::size_t>(i)];
    for (const Tensor& variant : wanted.variants)
      most = std::max(most, std::abs(number_at(variant, i) - number_at(wanted.value, i)));
    mean += most / static_cast<double>(count);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::complex<double> y = number_at(wanted.value, i);
    const double allowed =
        kSafety * std::max(varies[static_cast<std::size_t>(i)], mean) + 2 * unit_of(found.dtype(), std::abs(y));
    const double distance = std::abs(number_at(found, i) - y);
    if (distance <= allowed) continue;  // false for NaN
    std::array<char, 80> apart{};
    std::snprintf(apart.data(), apart.size(), "%.3g apart, allowed %.3g", distance, allowed);
    return "element " + std::to_string(i) + " of " + to_string(found.shape()) + " is " + print_at(found, i) +
           ", the reference " + print_at(wanted.value, i) + ": " + apart.data();
  }
  return {};
}

}  // namespace alate::conformance
