// Values of an ONNX graph under construction, and expressions over them: every operator here writes a node.
#pragma once

#include <string>
#include <vector>

#include "alate/tensor.h"

namespace alate::exchange::onnx {

class Emitter;

/// One value. For c64 and c128, the ONNX value has floats and an extra last axis of 2.
struct Term {
  Emitter* emitter = nullptr;
  std::string name;
  DType dtype = DType::invalid;
};
using Terms = std::vector<Term>;

// Numbers of any dtype, with ONNX's broadcasting. A double becomes a scalar of the other side's dtype.
Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
/// For floats, and for integers that are known to have a quotient.
Term operator/(const Term& a, const Term& b);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator*(const Term& a, double b);
Term operator/(const Term& a, double b);
Term operator-(const Term& a);

Term operator==(const Term& a, const Term& b);
Term operator<(const Term& a, const Term& b);
Term operator>(const Term& a, const Term& b);
Term operator==(const Term& a, double b);
Term operator<(const Term& a, double b);
Term operator>(const Term& a, double b);

// Logical for bools, else bitwise.
Term operator&(const Term& a, const Term& b);
Term operator|(const Term& a, const Term& b);
Term operator^(const Term& a, const Term& b);
Term operator!(const Term& a);

/// Negation hidden from ONNX Runtime's optimizer, which would swap the branches of a Where after a Not.
Term negated(const Term& condition);
/// ONNX Runtime's Where turns a -0 in `then` into +0; the costlier `exact_where`, and overloads with a number, keep it.
Term where(const Term& condition, const Term& then, const Term& otherwise);
Term exact_where(const Term& condition, const Term& then, const Term& otherwise);
Term where(const Term& condition, double then, const Term& otherwise);
Term where(const Term& condition, const Term& then, double otherwise);
Term to(const Term& x, DType dtype);
/// Reinterprets bits between integers of equal width; with opset 26, between any dtypes of equal width.
Term bits_as(const Term& x, DType dtype);

Term abs(const Term& x);
/// Integers and floats; NaN where either is NaN.
Term larger(const Term& a, const Term& b);
Term smaller(const Term& a, const Term& b);
/// The same, with -0 below +0.
Term exact_larger(const Term& a, const Term& b);
Term exact_smaller(const Term& a, const Term& b);
/// False for integers.
Term is_nan(const Term& x);
/// For i32 and i64, by less than the width.
Term shift_left(const Term& x, const Term& amount);
Term shift_right_logical(const Term& x, const Term& amount);
Term shift_right_arithmetic(const Term& x, const Term& amount);

}  // namespace alate::exchange::onnx
