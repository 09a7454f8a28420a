// Element-wise ops that ONNX has words for, on numbers and truth values.
#include <limits>

#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::kBool;
using graph::Op;

Terms same(const Call& c) { return {c[0]}; }
// Nothing but zeros.
Terms zeros(const Call& c) { return {where(c[0] == c[0], c.e.scalar(c[0].dtype, 0), 0)}; }

// The same of 0 of either sign, and of NaN.
Terms sign(const Call& c) {
  const Term& x = c[0];
  const Term sign = c.e.node("Sign", x.dtype, {x});
  if (!is_float(x.dtype)) return {sign};
  return {where((x == 0) | is_nan(x), x, sign)};
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

// Min and Max keep either zero of two; a bound of a clamp decides which.
Terms clamp(const Call& c) {
  const Term low = where(c[0] > c[1], c[0], c[1]);
  const Term both_bounds = where(low > c[2], c[2], low);
  if (!is_float(c[1].dtype)) return {both_bounds};
  return {where(is_nan(c[0]) | is_nan(c[1]) | is_nan(c[2]), c[0] + c[1] + c[2], both_bounds)};
}
Terms clamp_bool(const Call& c) { return {(c[0] | c[1]) & c[2]}; }

Terms select(const Call& c) { return {where(c[0], c[1], c[2])}; }

Terms is_finite(const Call& c) { return {abs(c[0]) < std::numeric_limits<double>::infinity()}; }

constexpr graph::DTypeSet kWhere = kMoved;

constexpr Spelling kRows[] = {
    {Op::identity, graph::kAny, "(none)", same},
    {Op::abs, kNumbers, "Abs"},
    {Op::neg, kNumbers, "Neg"},
    {Op::sign, kNumbers, "Sign, Where", sign},
    {Op::real, kFloats, "(none)", same},
    {Op::imag, kFloats, "Where", zeros},
    {Op::logical_not, kBool, "Not"},
    {Op::bitwise_not, kIntegers, "BitwiseNot"},
    {Op::add, kNumbers, "Add"},
    {Op::add, kBool, "Or"},
    {Op::sub, kNumbers, "Sub"},
    {Op::mul, kNumbers, "Mul"},
    {Op::mul, kBool, "And"},
    {Op::max, kNumbers, "Max"},
    {Op::max, kBool, "Or"},
    {Op::min, kNumbers, "Min"},
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

std::span<const Spelling> elementwise_spellings() { return kRows; }

}  // namespace alate::exchange::onnx
