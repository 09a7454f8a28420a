// Complex arithmetic, with numpy's results for infinities, NaN and zeros.
#pragma once

#include <cmath>

#include "graph/reference/values.h"

namespace alate::graph {

/// (a + bi)(c + di) by the schoolbook formula: an infinite factor can give NaN parts, as in numpy and XLA.
inline Complex product_of(Complex x, Complex y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
inline double product_of(double x, double y) { return x * y; }
inline std::uint64_t product_of(std::uint64_t x, std::uint64_t y) { return x * y; }

/// By Smith's formula, without intermediate overflow or underflow; a zero divisor divides each part.
Complex quotient_of(Complex x, Complex y);
Complex expm1_of(Complex z);
Complex log1p_of(Complex z);
Complex logistic_of(Complex z);
/// z over its magnitude; zeros are returned as they are, NaN gives NaN parts.
Complex sign_of(Complex z);
/// Small integer powers by multiplication, so that powers of Gaussian integers are exact; others by the principal
/// logarithm.
Complex power_of(Complex base, Complex exponent);

/// Compares complex numbers lexicographically: real parts, then imaginary parts if the real parts are equal.
/// https://openxla.org/stablehlo/spec#compare
template <typename Relation>
bool holds_lexicographically(Relation relation, Complex x, Complex y) {
  return x.real() == y.real() ? relation(x.imag(), y.imag()) : relation(x.real(), y.real());
}
/// The first of two values with a NaN part; else the later (earlier) one in lexicographic order.
Complex larger(Complex x, Complex y);
Complex smaller(Complex x, Complex y);

}  // namespace alate::graph
