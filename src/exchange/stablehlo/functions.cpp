// Element-wise functions that XLA computes imprecisely, or with undefined edge cases.
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {
namespace {

constexpr double kPi = 3.14159265358979323846;

// f16 and bf16 are computed in f32 and rounded once: XLA expands some functions in their operands' dtype.
HloValue function_of(HloWriter& w, std::string_view name, HloValues operands) {
  const DType dtype = operands[0].shape.dtype;
  for (HloValue& operand : operands) operand = convert(w, operand, computing_dtype(dtype));
  return convert(w, like_first(w, name, operands), dtype);
}

// Integer powers by squaring, a step per bit of the exponent: XLA's own uses only six bits.
HloValue integer_power(HloWriter& w, const HloValue& x, const HloValue& y) {
  const Shape counter{DType::i32, {}};
  const auto bits = static_cast<double>(bits_of(x.shape.dtype));
  const HloValue one = splat_like(w, x, 1), zero = splat_like(w, x, 0);
  const std::vector<Shape> shapes = {counter, x.shape, x.shape, x.shape};
  const std::string condition =
      w.region(shapes, [&](const HloValues& v) { return HloValues{compare(w, "LT", v[0], splat(w, counter, bits))}; });
  const std::string body = w.region(shapes, [&](const HloValues& v) {
    const HloValue &result = v[1], &base = v[2], &left = v[3];
    const HloValue unit = splat_like(w, left, 1);
    const HloValue is_odd = compare(w, "EQ", like_first(w, "and", {left, unit}), unit);
    return HloValues{like_first(w, "add", {v[0], splat(w, counter, 1)}),
                     select(w, is_odd, like_first(w, "multiply", {result, base}), result),
                     like_first(w, "multiply", {base, base}), like_first(w, "shift_right_logical", {left, unit})};
  });
  const HloValue power = w.ops("while", {splat(w, counter, 0), one, x, y}, shapes, {}, {condition, body})[1];
  if (is_unsigned_integer(x.shape.dtype)) return power;
  // A negative power is the truncated inverse: 0, except for 1 and -1, whose powers repeat.
  const HloValue is_unit = compare(w, "EQ", like_first(w, "abs", {x}), one), is_negative = compare(w, "LT", y, zero);
  const HloValue is_fraction = like_first(w, "and", {is_negative, like_first(w, "not", {is_unit})});
  return select(w, is_fraction, zero, power);
}

// XLA's powers of complex numbers are NaN for a base of zero, and lose as many digits as exponent * log(base) has
// before the point: those of c64 are computed in c128.
HloValue complex_power(HloWriter& w, const HloValue& x, const HloValue& y) {
  const HloValue power =
      convert(w, like_first(w, "power", {convert(w, x, DType::c128), convert(w, y, DType::c128)}), x.shape.dtype);
  const HloValue zero = splat_like(w, x, 0);
  const HloValue of_zero = select(w, compare(w, "EQ", y, zero), splat_like(w, x, 1), zero);
  const HloValue exponent = w.op("real", {y}, {x.shape.dtype == DType::c64 ? DType::f32 : DType::f64, x.shape.dims});
  const HloValue is_defined =
      like_first(w, "or", {compare(w, "GT", exponent, splat_like(w, exponent, 0)), compare(w, "EQ", y, zero)});
  return select(w, like_first(w, "and", {compare(w, "EQ", x, zero), is_defined}), of_zero, power);
}

// Whether the sign bit of a float is set, for zeros too.
HloValue has_sign(HloWriter& w, const HloValue& x) {
  const Shape bits{x.shape.dtype == DType::f64 ? DType::i64 : DType::i32, x.shape.dims};
  return compare(w, "LT", w.op("bitcast_convert", {x}, bits), splat(w, bits, 0));
}

// For f32 or f64. XLA's atan2 gives NaN or a wrong quadrant where the quotient overflows, underflows, or is of two
// infinities, so it is only used in the first octant, and its result is mapped to the right one.
HloValue angle_of(HloWriter& w, const HloValue& y, const HloValue& x) {
  const HloValue rise = like_first(w, "abs", {y}), run = like_first(w, "abs", {x});
  const HloValue is_steep = compare(w, "GT", rise, run), is_diagonal = compare(w, "EQ", rise, run);
  const HloValue larger = select(w, is_steep, rise, run), smaller = select(w, is_steep, run, rise);
  const HloValue zero = splat_like(w, x, 0);
  // Behind a barrier: XLA's CPU compiler gives garbage in some lanes for a constant second operand.
  const HloValue one = like_first(w, "optimization_barrier", {splat_like(w, x, 1)});
  HloValue slope = select(w, is_diagonal, one, like_first(w, "divide", {smaller, larger}));
  slope = select(w, compare(w, "EQ", smaller, zero), zero, slope);
  HloValue angle = like_first(w, "atan2", {slope, one});
  angle = select(w, is_steep, like_first(w, "subtract", {splat_like(w, x, kPi / 2), angle}), angle);
  angle = select(w, has_sign(w, x), like_first(w, "subtract", {splat_like(w, x, kPi), angle}), angle);
  angle = select(w, has_sign(w, y), like_first(w, "negate", {angle}), angle);
  const HloValue is_number = like_first(w, "and", {compare(w, "EQ", x, x), compare(w, "EQ", y, y)});
  return select(w, is_number, angle, like_first(w, "add", {x, y}));
}

}  // namespace

HloValues write_function(HloWriter& w, const HloCall& call) {
  return {function_of(w, find_spelling(call.node.op)->spelling, call.operands)};
}

HloValues write_atan2(HloWriter& w, const HloCall& call) {
  const DType dtype = computing_dtype(call.shape().dtype);
  return {convert(w, angle_of(w, convert(w, call.operand(0), dtype), convert(w, call.operand(1), dtype)),
                  call.shape().dtype)};
}

HloValues write_pow(HloWriter& w, const HloCall& call) {
  const HloValue &x = call.operand(0), &y = call.operand(1);
  if (is_integer(x.shape.dtype)) return {integer_power(w, x, y)};
  if (is_complex(x.shape.dtype)) return {complex_power(w, x, y)};
  return {function_of(w, "power", {x, y})};
}

// Where subnormals are flushed to zero, XLA's approximation gives numbers far from zero.
HloValues write_cbrt(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  const HloValue root = function_of(w, "cbrt", {x});
  if (is_complex(x.shape.dtype)) return {root};
  return {select(w, compare(w, "EQ", x, splat_like(w, x, 0)), x, root)};
}

// XLA's is inexact in f64. Kahan's formula (Goldberg 1991, "What every computer scientist should know about
// floating-point arithmetic", theorem 4): the quotient compensates for the rounding of 1 + x.
HloValues write_log1p(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  if (x.shape.dtype != DType::f64) return {function_of(w, "log_plus_one", {x})};
  const HloValue one = splat_like(w, x, 1);
  // Behind a barrier, so that no pass simplifies (1 + x) - 1 to x.
  const HloValue sum = like_first(w, "optimization_barrier", {like_first(w, "add", {x, one})});
  const HloValue log = like_first(w, "log", {sum}), difference = like_first(w, "subtract", {sum, one});
  const HloValue corrected = like_first(w, "multiply", {log, like_first(w, "divide", {x, difference})});
  const HloValue is_large = compare(w, "GT", x, splat_like(w, x, 1e17));  // also covers quotients of infinities
  return {select(w, compare(w, "EQ", sum, one), x, select(w, is_large, log, corrected))};
}

}  // namespace alate::exchange
