// Integer arithmetic and bit operations, exact in every edge case.
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

// Both cases are also hidden from Div: division by zero, or of the lowest number by -1, would crash the process.
Terms div(const Call& c) {
  const Term &x = c[0], &y = c[1];
  const Term is_zero = y == 0, is_minus_one = y == -1;
  const Term quotient = x / where(is_zero | is_minus_one, 1, y);
  return {where(is_zero, -1, where(is_minus_one, -x, quotient))};
}

Terms rem(const Call& c) {
  const Term &x = c[0], &y = c[1];
  const Term is_zero = y == 0, safe = where(is_zero | (y == -1), 1, y);
  return {where(is_zero, x, x - x / safe * safe)};
}

// By squaring. A negative power is the truncated inverse: ±1 by parity for bases 1 and -1, else 0.
Terms pow(const Call& c) {
  const Term &x = c[0], &y = c[1];
  const Term width = c.e.integer(DType::i64, static_cast<std::int64_t>(bits_of(x.dtype)));
  const Term one = c.e.scalar(x.dtype, 1);
  const Terms results = c.e.repeat(width, {x * 0 + y * 0 + 1, x + y * 0, y + x * 0}, [&](const Terms& in) {
    const Term power = where((in[3] & one) == 1, in[1] * in[2], in[1]);
    return Terms{power, in[2] * in[2], shift_right_logical(in[3], one)};
  });
  const Term is_unit = (x == 1) | (x == -1);
  return {where((y < 0) & !is_unit, 0, results[0])};
}

// Shift amounts that are negative or at least the width shift out every bit.
struct Amount {
  Term fits, safe;
};
Amount amount(const Call& c) {
  const Term& by = c[1];
  const Term fits = (!(by < 0)) & (by < static_cast<double>(bits_of(by.dtype)));
  return {fits, where(fits, by, 0)};
}
Terms shift_left(const Call& c) {
  const Amount by = amount(c);
  return {where(by.fits, shift_left(c[0], by.safe), 0)};
}
Terms shift_right_logical(const Call& c) {
  const Amount by = amount(c);
  return {where(by.fits, shift_right_logical(c[0], by.safe), 0)};
}
Terms shift_right_arithmetic(const Call& c) {
  const Amount by = amount(c);
  return {shift_right_arithmetic(c[0], where(by.fits, by.safe, static_cast<double>(bits_of(c[1].dtype) - 1)))};
}

// The value's bits, zero-extended to 64.
Term own_bits(const Term& x) { return x.dtype == DType::i32 ? to(to(x, DType::u32), DType::i64) : x; }

// Warren, "Hacker's Delight", figure 5-2: sums of neighboring fields, whose width doubles each time.
Term count_ones(const Term& x) {
  Emitter& e = *x.emitter;
  const auto bits = [&](std::int64_t value) { return e.integer(DType::i64, value); };
  const Term pairs = x - (shift_right_logical(x, bits(1)) & bits(0x5555555555555555));
  const Term twos = bits(0x3333333333333333);
  const Term fours = (pairs & twos) + (shift_right_logical(pairs, bits(2)) & twos);
  const Term bytes = (fours + shift_right_logical(fours, bits(4))) & bits(0x0F0F0F0F0F0F0F0F);
  return shift_right_logical(bytes * bits(0x0101010101010101), bits(56));
}

Terms popcnt(const Call& c) { return {to(count_ones(own_bits(c[0])), c[0].dtype)}; }

Terms count_leading_zeros(const Call& c) {
  Term x = own_bits(c[0]);
  for (const std::int64_t shift : {1, 2, 4, 8, 16, 32}) x = x | shift_right_logical(x, c.e.integer(DType::i64, shift));
  const auto width = static_cast<double>(bits_of(c[0].dtype));
  return {to(c.e.scalar(DType::i64, width) - count_ones(x), c[0].dtype)};
}

constexpr Spelling kIntegerRows[] = {
    {Op::div, kIntegers, "Div, Where", div},
    {Op::rem, kIntegers, "Div, Mul, Sub, Where", rem},
    {Op::pow, kIntegers, "Loop", pow},
    {Op::shift_left, kIntegers, "BitShift, Where", shift_left},
    {Op::shift_right_logical, kIntegers, "BitShift, Where", shift_right_logical},
    {Op::shift_right_arithmetic, kIntegers, "BitShift, Where", shift_right_arithmetic},
    {Op::popcnt, kIntegers, "BitShift, BitwiseAnd, Mul", popcnt},
    {Op::count_leading_zeros, kIntegers, "BitShift, BitwiseOr, BitwiseAnd, Mul", count_leading_zeros},
};

}  // namespace

std::span<const Spelling> integer_spellings() { return kIntegerRows; }

}  // namespace alate::exchange::onnx
