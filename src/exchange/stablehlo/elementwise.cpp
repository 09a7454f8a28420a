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

// The unsigned integer dtype of the same width.
DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::i8: return DType::u8;
    case DType::i16: return DType::u16;
    case DType::i32: return DType::u32;
    case DType::i64: return DType::u64;
    default: return dtype;
  }
}

// Whether XLA might multiply by the inverse of this divisor.
bool may_be_inverted(const graph::Graph& graph, graph::Value divisor) {
  const graph::Node* node = &graph.node(divisor.node);
  while (node->op == graph::Op::reshape || node->op == graph::Op::transpose || node->op == graph::Op::identity)
    node = &graph.node(node->operands[0].node);
  return node->op == graph::Op::constant || node->op == graph::Op::broadcast_in_dim;
}

// 1 where the condition is true, else 0.
HloValue ones(HloWriter& w, const HloValue& condition, const HloValue& like) {
  return convert(w, condition, like.shape.dtype);
}

bool is_small_float(DType dtype) { return is_float(dtype) && bits_of(dtype) <= 8; }

bool nan_has_sign(DType dtype) {
  return dtype == DType::f8e3m4 || dtype == DType::f8e4m3 || dtype == DType::f8e4m3fn || dtype == DType::f8e5m2;
}

// XLA's conversions between small floats and dtypes other than f32 are wrong in edge cases.
HloValue convert_small_float(HloWriter& w, const HloValue& original, DType dtype) {
  HloValue x = original;
  const DType from = x.shape.dtype;
  // A power of two is never zero, even if the smallest, a subnormal f32, is flushed to zero.
  if (from == DType::f8e8m0fnu && dtype == DType::boolean) return splat(w, {dtype, x.shape.dims}, 1);
  if (is_small_float(from)) x = convert(w, x, DType::f32);
  if (dtype == DType::f8e8m0fnu && x.shape.dtype == DType::f64) {
    const HloValue zero = splat_like(w, x, 0), least = splat_like(w, x, 0x1p-127);
    const HloValue is_tiny = like_first(w, "and", {compare(w, "GT", x, zero), compare(w, "LT", x, least)});
    x = select(w, is_tiny, least, x);
  }
  // f4e2m1fn has no NaN: a NaN becomes the zero of opposite sign. XLA's conversion loses the signs of NaNs.
  if (dtype == DType::f4e2m1fn && is_small_float(from) && bits_of(from) == 8) {
    HloValue zero = splat_like(w, x, -0.0);
    if (nan_has_sign(from)) {
      const HloValue bits = w.op("bitcast_convert", {original}, {DType::i8, x.shape.dims});
      zero = select(w, compare(w, "LT", bits, splat_like(w, bits, 0)), splat_like(w, x, 0), zero);
    }
    x = select(w, compare(w, "EQ", x, x), x, zero);
  }
  return convert(w, x, dtype);
}

}  // namespace

HloValues write_identity(HloWriter&, const HloCall& call) { return call.operands; }

HloValues write_abs(HloWriter& w, const HloCall& call) {
  if (is_unsigned(call.operand(0))) return call.operands;
  return {w.op("abs", call.operands, call.shape())};
}

HloValues write_sign(HloWriter& w, const HloCall& call) {
  const HloValue& x = call.operand(0);
  if (is_unsigned(x)) return {ones(w, compare(w, "NE", x, splat_like(w, x, 0)), x)};
  return {w.op("sign", call.operands, call.shape())};
}

HloValues write_is_nan(HloWriter& w, const HloCall& call) {
  return {compare(w, "NE", call.operand(0), call.operand(0))};
}

// Counts bits of signed integers as unsigned, and of sub-byte integers as bytes: XLA counts copies of the sign.
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

// MLIR constant-folds sums of bools as 1-bit integers, which wrap.
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

HloValues write_convert(HloWriter& w, const HloCall& call) {
  const DType dtype = call.shape().dtype;
  const HloValue x = is_complex(dtype) ? call.operand(0) : real_part(w, call.operand(0));
  if (is_complex(dtype) && !is_complex(x.shape.dtype)) {
    const HloValue real = convert(w, x, dtype == DType::c64 ? DType::f32 : DType::f64);
    return {w.op("complex", {real, splat_like(w, real, 0)}, call.shape())};
  }
  if (is_small_float(x.shape.dtype) || is_small_float(dtype)) return {convert_small_float(w, x, dtype)};
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
