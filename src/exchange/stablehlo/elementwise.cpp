#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

bool is_unsigned(const HloValue& x) { return is_unsigned_integer(x.shape.dtype); }

HloValue real_part(HloWriter& w, const HloValue& x) {
  if (!is_complex(x.shape.dtype)) return x;
  return w.op("real", {x}, {x.shape.dtype == DType::c64 ? DType::f32 : DType::f64, x.shape.dims});
}

// The unsigned integers of the same width.
DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::i8: return DType::u8;
    case DType::i16: return DType::u16;
    case DType::i32: return DType::u32;
    case DType::i64: return DType::u64;
    default: return dtype;
  }
}

// Whether XLA would multiply by the inverse of this divisor.
bool may_be_inverted(const graph::Graph& graph, graph::Value divisor) {
  const graph::Node* node = &graph.node(divisor.node);
  while (node->op == graph::Op::reshape || node->op == graph::Op::transpose || node->op == graph::Op::identity)
    node = &graph.node(node->operands[0].node);
  return node->op == graph::Op::constant || node->op == graph::Op::broadcast_in_dim;
}

// Of halves in f32, rounded once: XLA expands some functions in the dtype of their operands.
HloValue function_of(HloWriter& w, std::string_view name, HloValues operands) {
  const DType dtype = operands[0].shape.dtype;
  for (HloValue& operand : operands) operand = convert(w, operand, computing_dtype(dtype));
  return convert(w, like_first(w, name, operands), dtype);
}

// The ones of a condition: 1 where it is true.
HloValue ones(HloWriter& w, const HloValue& condition, const HloValue& like) {
  return convert(w, condition, like.shape.dtype);
}

}  // namespace

HloValues write_identity(HloWriter&, const HloCall& call) { return call.operands; }

HloValues write_function(HloWriter& w, const HloCall& call) {
  return {function_of(w, find_spelling(call.node.op)->spelling, call.operands)};
}

HloValues write_abs(HloWriter& w, const HloCall& call) {
  if (is_unsigned(call.operand(0))) return call.operands;
  return {w.op("abs", call.operands, call.shape())};
}

HloValues write_sign(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  if (is_unsigned(x)) return {ones(w, compare(w, "NE", x, splat_like(w, x, 0)), x)};
  return {w.op("sign", call.operands, call.shape())};
}

// Where subnormals count as zeros, XLA's approximation gives numbers far from them.
HloValues write_cbrt(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  const HloValue root = function_of(w, "cbrt", {x});
  if (is_complex(x.shape.dtype)) return {root};
  return {select(w, compare(w, "EQ", x, splat_like(w, x, 0)), x, root)};
}

// XLA's is inexact in f64. Kahan's formula (Goldberg 1991, "What every computer scientist should know about
// floating-point arithmetic", theorem 4): what 1 + x loses of x, the quotient makes up for.
HloValues write_log1p(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  if (x.shape.dtype != DType::f64) return {function_of(w, "log_plus_one", {x})};
  const HloValue one = splat_like(w, x, 1);
  // Behind a barrier, so that no pass takes (1 + x) - 1 for x.
  const HloValue sum = like_first(w, "optimization_barrier", {like_first(w, "add", {x, one})});
  const HloValue log = like_first(w, "log", {sum}), difference = like_first(w, "subtract", {sum, one});
  const HloValue corrected = like_first(w, "multiply", {log, like_first(w, "divide", {x, difference})});
  const HloValue is_large = compare(w, "GT", x, splat_like(w, x, 1e17));  // also where the quotient is of infinities
  return {select(w, compare(w, "EQ", sum, one), x, select(w, is_large, log, corrected))};
}

HloValues write_is_nan(HloWriter& w, const HloCall& call) {
  return {compare(w, "NE", call.operand(0), call.operand(0))};
}

// Counts the bits of signed integers as those of unsigned ones, and of less than a byte in bytes: XLA counts copies of
// the sign.
HloValues write_bit_count(HloWriter& w, const HloCall& call) {
  const DType dtype = call.shape().dtype;
  const std::size_t bits = bits_of(dtype);
  const bool is_packed = tensor::is_packed(dtype);
  HloValue x = convert(w, call.operand(0), tensor::carrier_of(dtype));
  if (is_signed_integer(dtype)) x = w.op("bitcast_convert", {x}, {unsigned_of(x.shape.dtype), x.shape.dims});
  if (is_packed) x = like_first(w, "and", {x, splat_like(w, x, static_cast<double>((1U << bits) - 1))});
  x = like_first(w, call.node.op == graph::Op::popcnt ? "popcnt" : "count_leading_zeros", {x});
  if (is_packed && call.node.op == graph::Op::count_leading_zeros)
    x = like_first(w, "subtract", {x, splat_like(w, x, static_cast<double>(8 - bits))});
  return {convert(w, x, dtype)};
}

HloValues write_real(HloWriter& w, const HloCall& call) { return {real_part(w, call.operand(0))}; }

HloValues write_imag(HloWriter& w, const HloCall& call) {
  if (!is_complex(call.operand(0).shape.dtype)) return {splat(w, call.shape(), 0)};
  return {w.op("imag", call.operands, call.shape())};
}

HloValues write_conj(HloWriter& w, const HloCall& call) {
  const HloValue real = real_part(w, call.operand(0));
  const HloValue imaginary = w.op("imag", call.operands, real.shape);
  return {w.op("complex", {real, like_first(w, "negate", {imaginary})}, call.shape())};
}

// MLIR folds sums of constant bools as of numbers of one bit, which wrap.
HloValues write_sum_or_product(HloWriter& w, const HloCall& call) {
  const bool is_sum = call.node.op == graph::Op::add;
  if (call.shape().dtype == DType::boolean) return {like_first(w, is_sum ? "or" : "and", call.operands)};
  return {like_first(w, is_sum ? "add" : "multiply", call.operands)};
}

HloValues write_div(HloWriter& w, const HloCall& call) {
  HloValues operands = call.operands;
  if (is_float(call.shape().dtype) && w.options().exact_division && may_be_inverted(call.graph, call.node.operands[1]))
    operands[1] = w.op("optimization_barrier", {operands[1]}, call.shape());
  return {like_first(w, "divide", operands)};
}

// Powers of integers by squaring, a step for each bit of the exponent: XLA's own looks at six bits alone.
HloValues write_pow(HloWriter& w, const HloCall& call) {
  const HloValue &x = call.operand(0), &y = call.operand(1);
  if (!is_integer(x.shape.dtype)) return {function_of(w, "power", {x, y})};
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
  if (is_unsigned(x)) return {power};
  // A negative power is the truncated inverse: 0, but of 1 and -1, whose powers repeat.
  const HloValue is_unit = compare(w, "EQ", like_first(w, "abs", {x}), one), is_negative = compare(w, "LT", y, zero);
  const HloValue is_fraction = like_first(w, "and", {is_negative, like_first(w, "not", {is_unit})});
  return {select(w, is_fraction, zero, power)};
}

HloValues write_convert(HloWriter& w, const HloCall& call) {
  const DType dtype = call.shape().dtype;
  const HloValue& x = call.operand(0);
  if (is_complex(x.shape.dtype) && !is_complex(dtype)) return {convert(w, real_part(w, x), dtype)};
  if (is_complex(dtype) && !is_complex(x.shape.dtype)) {
    const HloValue real = convert(w, x, dtype == DType::c64 ? DType::f32 : DType::f64);
    return {w.op("complex", {real, splat_like(w, real, 0)}, call.shape())};
  }
  return {convert(w, x, dtype)};
}

std::string refuse_bitcast(const graph::Graph& graph, const graph::Node& node) {
  const DType from = graph.shape(node.operands[0]).dtype, to = node.results[0].dtype;
  return is_complex(from) && from != to ? "it changes the size of no complex number" : "";
}

HloValues write_bitcast(HloWriter& w, const HloCall& call) {
  if (call.operand(0).shape == call.shape()) return call.operands;
  return {w.op("bitcast_convert", call.operands, call.shape())};
}

}  // namespace alate::exchange
