// convert, bitcast and ops on the bits of floats.
#include <cmath>
#include <limits>

#include "exchange/onnx/bits_of_floats.h"
#include "exchange/onnx/complexes.h"
#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {

Term order_key(const Term& x) {
  const DType integer = x.dtype == DType::f64 ? DType::i64 : DType::i32;
  const Term bits = bits_as(x, integer);
  const auto width = static_cast<std::int64_t>(bits_of(integer));
  const Term lowest = x.emitter->integer(integer, width == 64 ? INT64_MIN : INT32_MIN);
  return where(bits < 0, !bits ^ lowest, bits);
}

bool narrows_by_bits(DType from, DType dtype) {
  const bool is_half = dtype == DType::f16 || dtype == DType::bf16;
  return is_half && bits_of(from) >= 32 && from != DType::f32;
}

// Through an f32 whose last bit is set if it is inexact (round to odd; Boldo and Melquiond 2008).
Term narrowed(const Term& x, DType dtype) {
  if (!narrows_by_bits(x.dtype, dtype)) return to(to(x, DType::f32), dtype);
  Emitter& e = *x.emitter;
  Term wide = x;
  if (bits_of(x.dtype) == 64 && is_integer(x.dtype)) {  // round to odd in integers first, so that f64 is exact
    const Term is_long = (x > 0x1p40) | (x < (is_signed_integer(x.dtype) ? -0x1p40 : 0));
    const Term low = e.integer(x.dtype, 0xFFFF), rest = x & low;
    const Term jammed = (x ^ rest) | where(rest == 0, 0, to(e.integer(DType::i64, 0x10000), x.dtype));
    wide = where(is_long, jammed, x);
  }
  wide = to(wide, DType::f64);
  const Term single = to(wide, DType::f32), back = to(single, DType::f64), bits = bits_as(single, DType::i32);
  const Term toward_zero = where(abs(back) > abs(wide), bits - 1, bits);
  const Term odd = where((back < wide) | (back > wide), toward_zero | e.integer(DType::i32, 1), bits);
  // An f32 that overflowed stays infinite, as in narrower dtypes; NaN is unordered.
  const Term is_finite = abs(back) < std::numeric_limits<double>::infinity();
  return to(bits_as(where(is_finite, odd, bits), DType::f32), dtype);
}

std::string needs_bits(const graph::Graph& /*graph*/, const graph::Node& /*node*/, int opset) {
  return opset >= kBitCastOpset ? "" : "the bits of floats cannot be seen before opset 26 (BitCast)";
}

namespace {

using graph::Op;

// Cast from float to integer is undefined for out-of-range values: they saturate here, and NaN becomes 0.
Term truncated(const Term& x, DType dtype) {
  Emitter& e = *x.emitter;
  const auto bits = static_cast<int>(bits_of(dtype));
  const bool is_signed = is_signed_integer(dtype);
  const double above = std::ldexp(1.0, is_signed ? bits - 1 : bits), below = is_signed ? -above : 0;
  const Term is_above = !(x < above), is_below = x < below;
  const Term inside = where(is_above | is_below | is_nan(x), 0, x);
  const std::int64_t highest = is_signed ? INT64_MAX >> (64 - bits) : bits == 64 ? -1 : (std::int64_t{1} << bits) - 1;
  const std::int64_t lowest = is_signed ? INT64_MIN >> (64 - bits) : 0;
  const Term low = where(is_below, e.integer(dtype, lowest), to(inside, dtype));
  return where(is_above & !is_nan(x), e.integer(dtype, highest), low);
}

Term converted(const Term& x, DType dtype) {
  if (x.dtype == DType::bf16 && dtype != DType::bf16) return converted(to(x, DType::f32), dtype);
  if (is_float(x.dtype) && is_integer(dtype)) return truncated(x, dtype);
  if (dtype == DType::f16 || dtype == DType::bf16) return narrowed(x, dtype);
  return to(x, dtype);
}

Terms convert(const Call& c) {
  const DType dtype = c.as<graph::Convert>().dtype;
  if (!is_complex(dtype)) return {converted(is_complex(c[0].dtype) ? part(c[0], 0) : c[0], dtype)};
  const DType parts = dtype == DType::c128 ? DType::f64 : DType::f32;
  if (is_complex(c[0].dtype)) return {paired(to(part(c[0], 0), parts), to(part(c[0], 1), parts))};
  const Term real = to(c[0], parts);
  return {paired(real, c.e.node("Expand", parts, {c.e.scalar(parts, 0), shape_of(real)}))};
}

std::string refuse_convert(const graph::Graph& graph, const graph::Node& node, int opset) {
  const DType from = graph.shape(node.operands[0]).dtype, to = node.results[0].dtype;
  if (!graph::contains(kMoved | graph::kComplex | graph::kFloats, to))
    return "no kernels for " + std::string(to_string(to));
  if (is_complex(from) && bits_of(to) < 32) return "parts of complex numbers are not narrowed";
  return narrows_by_bits(from, to) ? needs_bits(graph, node, opset) : "";
}

DType unsigned_of(DType dtype) {
  switch (bits_of(dtype)) {
    case 8: return DType::u8;
    case 16: return DType::u16;
    case 32: return DType::u32;
    default: return DType::u64;
  }
}

// The low bits first.
Term split_bits(const Term& x, DType dtype, std::int64_t count) {
  const Term bits = to(bits_as(x, unsigned_of(x.dtype)), DType::i64);
  Terms parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const Term shift = x.emitter->scalar(DType::i64, static_cast<double>(i) * static_cast<double>(bits_of(dtype)));
    const Term part_bits = to(shift_right_logical(bits, shift), unsigned_of(dtype));
    parts.push_back(unsqueeze(bits_as(part_bits, dtype), {-1}));
  }
  return concatenate(parts, -1);
}
Term joined_bits(const Term& x, DType dtype, std::int64_t count) {
  Emitter& e = *x.emitter;
  Term bits = e.integer(DType::i64, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Term shift = e.scalar(DType::i64, static_cast<double>(i) * static_cast<double>(bits_of(x.dtype)));
    const Term one = entry(x, e.integer(DType::i64, i), -1);
    bits = bits | shift_left(to(bits_as(one, unsigned_of(x.dtype)), DType::i64), shift);
  }
  return bits_as(to(bits, unsigned_of(dtype)), dtype);
}

Terms bitcast(const Call& c) {
  const DType dtype = c.as<graph::Convert>().dtype;
  const auto from = static_cast<std::int64_t>(bits_of(c[0].dtype)), to_bits = static_cast<std::int64_t>(bits_of(dtype));
  if (from > to_bits) return {split_bits(c[0], dtype, from / to_bits)};
  if (from < to_bits) return {joined_bits(c[0], dtype, to_bits / from)};
  return {bits_as(c[0], dtype)};
}

std::string refuse_bitcast(const graph::Graph& graph, const graph::Node& node, int opset) {
  const DType from = graph.shape(node.operands[0]).dtype, to = node.results[0].dtype;
  if (!graph::contains(kMoved, to)) return "no kernels for " + std::string(to_string(to));
  if (is_integer(from) && is_integer(to)) return "";
  return from == to ? "" : needs_bits(graph, node, opset);
}

// Compares keys that are in total order.
template <bool kSwapped, bool kNegated>
Terms total_less(const Call& c) {
  const Term x = order_key(c[kSwapped ? 1 : 0]), y = order_key(c[kSwapped ? 0 : 1]);
  return {kNegated ? !(x < y) : x < y};
}
template <bool kNegated>
Terms total_equal(const Call& c) {
  const Term equal = order_key(c[0]) == order_key(c[1]);
  return {kNegated ? !equal : equal};
}

constexpr Spelling kConversionRows[] = {
    {Op::convert, kMoved | graph::kComplex | graph::kFloats, "Cast, Where", convert, refuse_convert},
    {Op::bitcast, kMoved & ~graph::kBool, "Cast, BitCast", bitcast, refuse_bitcast},
    {Op::equal_total_order, kFloats, "BitCast, Equal", total_equal<false>, needs_bits},
    {Op::not_equal_total_order, kFloats, "BitCast, Equal, Not", total_equal<true>, needs_bits},
    {Op::less_total_order, kFloats, "BitCast, Less", total_less<false, false>, needs_bits},
    {Op::less_or_equal_total_order, kFloats, "BitCast, Less, Not", total_less<true, true>, needs_bits},
    {Op::greater_total_order, kFloats, "BitCast, Less", total_less<true, false>, needs_bits},
    {Op::greater_or_equal_total_order, kFloats, "BitCast, Less, Not", total_less<false, true>, needs_bits},
};

}  // namespace

std::span<const Spelling> conversion_spellings() { return kConversionRows; }

}  // namespace alate::exchange::onnx
