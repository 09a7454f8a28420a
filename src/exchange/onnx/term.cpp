#include "exchange/onnx/term.h"

#include "exchange/onnx/bits_of_floats.h"
#include "exchange/onnx/emitter.h"

namespace alate::exchange::onnx {
namespace {

Term scalar_like(double value, const Term& x) { return x.emitter->scalar(x.dtype, value); }

Term zip(std::string_view op, const Term& a, const Term& b) { return a.emitter->node(op, a.dtype, {a, b}); }
Term compare(std::string_view op, const Term& a, const Term& b) { return a.emitter->node(op, DType::boolean, {a, b}); }

DType unsigned_of(DType dtype) { return bits_of(dtype) == 64 ? DType::u64 : DType::u32; }

Term shifted(const Term& x, const Term& amount, std::string_view direction) {
  const DType bits = unsigned_of(x.dtype);
  return to(x.emitter->node("BitShift", bits, {to(x, bits), to(amount, bits)}, {attribute("direction", direction)}),
            x.dtype);
}

// Where has kernels for few dtypes; this is one that represents the same values.
DType chosen_as(DType dtype) {
  switch (dtype) {
    case DType::i16:
    case DType::u16: return DType::i32;
    case DType::u32:
    case DType::u64: return DType::i64;  // the same bits
    case DType::i8: return DType::i32;
    case DType::bf16: return DType::f32;
    default: return dtype;
  }
}

}  // namespace

Term operator+(const Term& a, const Term& b) { return zip("Add", a, b); }
Term operator-(const Term& a, const Term& b) { return zip("Sub", a, b); }
Term operator*(const Term& a, const Term& b) { return zip("Mul", a, b); }
Term operator/(const Term& a, const Term& b) { return zip("Div", a, b); }
Term operator+(const Term& a, double b) { return a + scalar_like(b, a); }
Term operator-(const Term& a, double b) { return a - scalar_like(b, a); }
Term operator*(const Term& a, double b) { return a * scalar_like(b, a); }
Term operator/(const Term& a, double b) { return a / scalar_like(b, a); }
Term operator-(const Term& a) { return a.emitter->node("Neg", a.dtype, {a}); }

Term operator==(const Term& a, const Term& b) { return compare("Equal", a, b); }
Term operator<(const Term& a, const Term& b) { return compare("Less", a, b); }
Term operator>(const Term& a, const Term& b) { return compare("Greater", a, b); }
Term operator==(const Term& a, double b) { return a == scalar_like(b, a); }
Term operator<(const Term& a, double b) { return a < scalar_like(b, a); }
Term operator>(const Term& a, double b) { return a > scalar_like(b, a); }

Term operator&(const Term& a, const Term& b) { return zip(a.dtype == DType::boolean ? "And" : "BitwiseAnd", a, b); }
Term operator|(const Term& a, const Term& b) { return zip(a.dtype == DType::boolean ? "Or" : "BitwiseOr", a, b); }
Term operator^(const Term& a, const Term& b) { return zip(a.dtype == DType::boolean ? "Xor" : "BitwiseXor", a, b); }
Term operator!(const Term& a) {
  return a.emitter->node(a.dtype == DType::boolean ? "Not" : "BitwiseNot", a.dtype, {a});
}

Term negated(const Term& condition) { return condition == condition.emitter->scalar(DType::boolean, 0); }

Term where(const Term& condition, const Term& then, const Term& otherwise) {
  if (then.dtype == DType::boolean) return (condition & then) | ((!condition) & otherwise);
  const DType dtype = chosen_as(then.dtype);
  return to(condition.emitter->node("Where", dtype, {condition, to(then, dtype), to(otherwise, dtype)}), then.dtype);
}
Term where(const Term& condition, double then, const Term& otherwise) {
  return where(condition, scalar_like(then, otherwise), otherwise);
}
Term where(const Term& condition, const Term& then, double otherwise) {
  return where(negated(condition), scalar_like(otherwise, then), then);
}

Term exact_where(const Term& condition, const Term& then, const Term& otherwise) {
  if (!is_float(then.dtype)) return where(condition, then, otherwise);
  if (then.emitter->opset() >= kBitCastOpset && then.dtype != DType::f16) {
    const DType bits = then.dtype == DType::f64 ? DType::i64 : DType::i32;
    return bits_as(where(condition, bits_as(then, bits), bits_as(otherwise, bits)), then.dtype);
  }
  // Each loses a zero's sign on a different branch; -(-a - b) is -0 if either zero is -0.
  const Term first = where(condition, then, otherwise), second = where(negated(condition), otherwise, then);
  return where(negated(first == 0), first, -(-first - second));
}

Term to(const Term& x, DType dtype) {
  return x.dtype == dtype ? x : x.emitter->node("Cast", dtype, {x}, {attribute("to", onnx_dtype(dtype))});
}

Term bits_as(const Term& x, DType dtype) {
  if (x.dtype == dtype) return x;
  if (is_integer(x.dtype) && is_integer(dtype)) return to(x, dtype);
  return x.emitter->node("BitCast", dtype, {x}, {attribute("to", onnx_dtype(dtype))});
}

Term abs(const Term& x) { return x.emitter->node("Abs", x.dtype, {x}); }
// Some versions of the runtime compare only 32 bits in Max and Min of i64.
Term larger(const Term& a, const Term& b) {
  if (a.dtype == DType::boolean) return a | b;
  return a.dtype == DType::i64 ? where(a < b, b, a) : zip("Max", a, b);
}
Term smaller(const Term& a, const Term& b) {
  if (a.dtype == DType::boolean) return a & b;
  return a.dtype == DType::i64 ? where(b < a, b, a) : zip("Min", a, b);
}
Term exact_larger(const Term& a, const Term& b) {
  if (!is_float(a.dtype)) return larger(a, b);
  return exact_where((a == 0) & (b == 0), a + b, larger(a, b));
}
Term exact_smaller(const Term& a, const Term& b) {
  if (!is_float(a.dtype)) return smaller(a, b);
  return -exact_larger(-a, -b);
}
Term is_nan(const Term& x) {
  return is_float(x.dtype) ? x.emitter->node("IsNaN", DType::boolean, {x})
                           : x.emitter->node("Not", DType::boolean, {x == x});
}

Term shift_left(const Term& x, const Term& amount) { return shifted(x, amount, "LEFT"); }
Term shift_right_logical(const Term& x, const Term& amount) { return shifted(x, amount, "RIGHT"); }
// For negative numbers: the complement shifts in zeros.
Term shift_right_arithmetic(const Term& x, const Term& amount) {
  const Term is_negative = x < 0;
  const Term shifted_bits = shift_right_logical(where(is_negative, !x, x), amount);
  return where(is_negative, !shifted_bits, shifted_bits);
}

}  // namespace alate::exchange::onnx
