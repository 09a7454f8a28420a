// Element-wise ops on numbers and bools that ONNX has operators for.
#include <algorithm>
#include <limits>

#include "exchange/onnx/spelling.h"
#include "graph/interpreter.h"

namespace alate::exchange::onnx {
namespace {

using graph::kBool;
using graph::Op;

Terms same(const Call& c) { return {c[0]}; }
// Zeros of x's shape.
Terms zeros(const Call& c) { return {where(c[0] == c[0], c.e.scalar(c[0].dtype, 0), 0)}; }

// Zeros of either sign and NaN are returned as they are.
Terms sign(const Call& c) {
  const Term& x = c[0];
  // Some versions of the runtime take only 32 bits in Sign of i64.
  return {where(x > 0, 1, where(x < 0, -1, x))};
}

template <Term (*kExtreme)(const Term&, const Term&)>
Terms extreme(const Call& c) {
  return {kExtreme(c[0], c[1])};
}

Terms both(const Call& c) { return {c[0] & c[1]}; }
Terms either(const Call& c) { return {c[0] | c[1]}; }
Terms one(const Call& c) { return {c[0] ^ c[1]}; }
Terms not_equal(const Call& c) { return {!(c[0] == c[1])}; }

// false is below true.
Terms less_bool(const Call& c) { return {(!c[0]) & c[1]}; }
Terms less_or_equal_bool(const Call& c) { return {(!c[0]) | c[1]}; }
Terms greater_bool(const Call& c) { return {c[0] & !c[1]}; }
Terms greater_or_equal_bool(const Call& c) { return {c[0] | !c[1]}; }

Terms clamp(const Call& c) { return {exact_smaller(exact_larger(c[1], c[0]), c[2])}; }
Terms clamp_bool(const Call& c) { return {(c[0] | c[1]) & c[2]}; }

// Whether a value is a constant without -0, possibly broadcast.
bool has_no_negative_zero(const graph::Graph& graph, graph::Value value) {
  const graph::Node* node = &graph.node(value.node);
  if (node->op == Op::broadcast_in_dim) node = &graph.node(node->operands[0].node);
  if (node->op != Op::constant || node->results[0].rank() > 0) return false;
  const auto index = static_cast<std::size_t>(std::get<graph::Index>(node->attributes).index);
  const Tensor scalar = graph::materialize(*graph.constants()[index]);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0} || byte == std::byte{0x80}; };
  return std::ranges::all_of(scalar.bytes(), [](std::byte byte) { return byte == std::byte{0}; }) ||
         !std::ranges::all_of(scalar.bytes(), is_zero);
}

Terms select(const Call& c) {
  if (has_no_negative_zero(c.graph, c.node.operands[1])) return {where(c[0], c[1], c[2])};
  if (has_no_negative_zero(c.graph, c.node.operands[2])) return {where(negated(c[0]), c[2], c[1])};
  return {exact_where(c[0], c[1], c[2])};
}

Terms is_finite(const Call& c) { return {abs(c[0]) < std::numeric_limits<double>::infinity()}; }

constexpr graph::DTypeSet kWhere = kMoved;

constexpr Spelling kElementwiseRows[] = {
    {Op::identity, graph::kAny, "(none)", same},
    {Op::abs, kNumbers, "Abs"},
    {Op::neg, kNumbers, "Neg"},
    {Op::sign, kNumbers, "Where", sign},
    {Op::real, kFloats, "(none)", same},
    {Op::imag, kFloats, "Where", zeros},
    {Op::logical_not, kBool, "Not"},
    {Op::bitwise_not, kIntegers, "BitwiseNot"},
    {Op::add, kNumbers, "Add"},
    {Op::add, kBool, "Or"},
    {Op::sub, kNumbers, "Sub"},
    {Op::mul, kNumbers, "Mul"},
    {Op::mul, kBool, "And"},
    {Op::max, kNumbers, "Max", extreme<larger>},
    {Op::max, kBool, "Or"},
    {Op::min, kNumbers, "Min", extreme<smaller>},
    {Op::min, kBool, "And"},
    {Op::logical_and, kBool, "And", both},
    {Op::logical_or, kBool, "Or", either},
    {Op::logical_xor, kBool, "Xor", one},
    {Op::bitwise_and, kIntegers, "BitwiseAnd", both},
    {Op::bitwise_or, kIntegers, "BitwiseOr", either},
    {Op::bitwise_xor, kIntegers, "BitwiseXor", one},
    {Op::equal, kMain, "Equal"},
    {Op::not_equal, kMain, "Equal, Not", not_equal},
    {Op::less, kNumbers, "Less"},
    {Op::less_or_equal, kNumbers, "LessOrEqual"},
    {Op::greater, kNumbers, "Greater"},
    {Op::greater_or_equal, kNumbers, "GreaterOrEqual"},
    {Op::less, kBool, "Not, And", less_bool},
    {Op::less_or_equal, kBool, "Not, Or", less_or_equal_bool},
    {Op::greater, kBool, "Not, And", greater_bool},
    {Op::greater_or_equal, kBool, "Not, Or", greater_or_equal_bool},
    {Op::select, kWhere, "Where", select},
    {Op::clamp, kNumbers, "Where", clamp},
    {Op::clamp, kBool, "And, Or", clamp_bool},
    {Op::is_finite, kFloats, "Abs, Less", is_finite},
};

}  // namespace

std::span<const Spelling> elementwise_spellings() { return kElementwiseRows; }

}  // namespace alate::exchange::onnx
