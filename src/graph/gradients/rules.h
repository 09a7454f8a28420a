// Helpers for the rules of reverse-mode differentiation, and the rule families.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/gradients.h"

namespace alate::graph {

/// One node in the backward pass: its values, the cotangents of its results, and the gradients that a rule gives.
struct Backward {
  Builder& b;
  Node node;  // a copy: the builder's nodes move while a rule adds more
  NodeId id;
  std::vector<std::optional<Value>> cotangents = {};  // of the results; none where the loss does not depend on one
  std::vector<bool> wanted = {};                      // operands
  std::vector<std::optional<Value>> gradients = {};   // of the operands, by the rule

  template <typename Attribute>
  const Attribute& as() const {
    return std::get<Attribute>(node.attributes);
  }
  Value x(std::size_t place = 0) const { return node.operands[place]; }
  Value y(std::size_t place = 0) const { return {id, static_cast<std::uint16_t>(place)}; }
  Shape x_shape(std::size_t place = 0) const { return b.shape(x(place)); }
  Shape y_shape(std::size_t place = 0) const { return node.results[place]; }
  /// The cotangent of a result; zeros where there is none.
  Value g(std::size_t place = 0) const;
  bool wants(std::size_t place) const { return wanted[place]; }
  void give(std::size_t place, Value gradient) { gradients[place] = gradient; }
  /// Throws unsupported with the op, its source, the shapes of its operands and `why`.
  [[noreturn]] void fail(std::string_view why) const;
  /// Differentiates through simpler ops: `express` adds ops that compute the node's results to the builder.
  void differentiate(const std::function<std::vector<Value>()>& express);
};

struct GradientRule {
  Op op;
  void (*rule)(Backward& call) = nullptr;
  OpGradient::Kind kind = OpGradient::Kind::rule;
  std::string_view reason = {};
};
constexpr GradientRule zero_gradient(Op op, std::string_view reason) {
  return {op, nullptr, OpGradient::Kind::zero, reason};
}
constexpr GradientRule no_gradient(Op op, std::string_view reason) {
  return {op, nullptr, OpGradient::Kind::none, reason};
}

// One file per family.
std::span<const GradientRule> unary_gradients();
std::span<const GradientRule> binary_gradients();
std::span<const GradientRule> select_gradients();
std::span<const GradientRule> movement_gradients();
std::span<const GradientRule> dynamic_gradients();
std::span<const GradientRule> gather_gradients();
std::span<const GradientRule> scatter_gradients();
std::span<const GradientRule> reduction_gradients();
std::span<const GradientRule> cumulative_gradients();
std::span<const GradientRule> sort_gradients();
std::span<const GradientRule> dot_gradients();
std::span<const GradientRule> convolution_gradients();
std::span<const GradientRule> window_gradients();
std::span<const GradientRule> fft_gradients();
std::span<const GradientRule> batch_norm_gradients();
std::span<const GradientRule> attention_gradients();
std::span<const GradientRule> region_gradients();
std::span<const GradientRule> loop_gradients();
std::span<const GradientRule> device_gradients();

/// The rule of an op; null for leaves, fused ops that are decomposed, and ops without any rule.
const GradientRule* find_gradient_rule(Op op);

/// True for floats that ops compute with, and for complex numbers.
inline bool is_differentiable(DType dtype) { return contains(kFloats | kComplex, dtype); }
inline Value zeros(Builder& b, const Shape& shape) { return broadcast_to(b, b.scalar(shape.dtype, 0), shape.dims); }
/// Whether an extent is known to be 0.
bool is_empty(const Shape& shape);
/// The extent of an axis, named or not, as an integer scalar of this dtype.
Value extent_of(Builder& b, Value x, std::size_t axis, DType dtype);
/// Indices (i64) along an axis, of these dims.
inline Value indices_along(Builder& b, const Dims& dims, std::size_t axis) {
  return b.iota({}, {.dtype = DType::i64, .dims = dims, .axis = static_cast<std::int64_t>(axis)});
}
/// Broadcasts the result of a reduction over `axes` back to the operand's dims.
Value restore_axes(Builder& b, Value reduced, const Dims& dims, const Numbers& axes);
/// Zeros of `shape` with the values of `g` added, along an axis, at `places` (integers of the dims of g; out-of-range
/// ones are skipped).
Value scatter_along(Builder& b, const Shape& shape, std::size_t axis, Value places, Value g);

}  // namespace alate::graph
