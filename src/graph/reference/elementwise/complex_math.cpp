#include "graph/reference/elementwise/complex_math.h"

#include <functional>
#include <limits>

namespace alate::graph {
namespace {

bool is_nan(Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
bool is_finite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

// Powers amplify the base's relative error as the exponent grows: hence the wider type.
using Wide = std::complex<long double>;

Wide wide_product(Wide x, Wide y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// base to the power of count > 0, by squaring.
Complex repeated_product(Wide base, int count) {
  Wide result = base;
  for (--count; count > 0; count /= 2) {
    if (count % 2 != 0) result = wide_product(result, base);
    base = wide_product(base, base);
  }
  return Complex(result);
}

}  // namespace

// R. L. Smith, "Algorithm 116: Complex division", 1962.
Complex quotient_of(Complex x, Complex y) {
  const double real = y.real(), imaginary = y.imag();
  if (real == 0 && imaginary == 0) return {x.real() / std::fabs(real), x.imag() / std::fabs(real)};
  if (std::fabs(real) >= std::fabs(imaginary)) {
    const double ratio = imaginary / real, divisor = real + imaginary * ratio;
    return {(x.real() + x.imag() * ratio) / divisor, (x.imag() - x.real() * ratio) / divisor};
  }
  const double ratio = real / imaginary, divisor = real * ratio + imaginary;
  return {(x.real() * ratio + x.imag()) / divisor, (x.imag() * ratio - x.real()) / divisor};
}

// exp(a + bi) - 1 = (exp(a) - 1) cos b - 2 sin²(b / 2) + i exp(a) sin b, without cancellation near zero.
Complex expm1_of(Complex z) {
  if (!is_finite(z) || z.imag() == 0 || std::isinf(std::exp(z.real()))) {
    const Complex power = std::exp(z);
    return {z.imag() == 0 ? std::expm1(z.real()) : power.real() - 1, power.imag()};
  }
  const double half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

// log(1 + a + bi): half the logarithm of 1 + (2a + a² + b²), and the angle. The sum in the parentheses loses digits
// where |1 + z| is near 1, hence the wider type.
Complex log1p_of(Complex z) {
  const Complex sum(1 + z.real(), z.imag());
  if (std::abs(z) > 1 || !is_finite(z)) return std::log(sum);
  const long double a = z.real(), b = z.imag();
  return {static_cast<double>(std::log1p(a * (2 + a) + b * b) / 2), std::arg(sum)};
}

Complex logistic_of(Complex z) {
  if (z.real() >= 0) return quotient_of(1, 1.0 + std::exp(-z));
  const Complex power = std::exp(z);  // the other way round would overflow
  return quotient_of(power, 1.0 + power);
}

Complex sign_of(Complex z) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (is_nan(z) || (std::isinf(z.real()) && std::isinf(z.imag()))) return {kNan, kNan};
  if (std::isinf(z.real())) return {std::copysign(1.0, z.real()), std::copysign(0.0, z.imag())};
  if (std::isinf(z.imag())) return {std::copysign(0.0, z.real()), std::copysign(1.0, z.imag())};
  const double magnitude = std::abs(z);
  return magnitude == 0 ? z : Complex(z.real() / magnitude, z.imag() / magnitude);
}

Complex power_of(Complex base, Complex exponent) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr int kMostFactors = 100;
  if (exponent == Complex(0)) return 1;
  if (base == Complex(0)) return exponent.real() > 0 ? Complex(0) : Complex(kNan, kNan);
  const double real = exponent.real();
  if (exponent.imag() == 0 && std::fabs(real) < kMostFactors && real == std::trunc(real)) {
    const Complex power = repeated_product(base, static_cast<int>(std::fabs(real)));
    return real > 0 ? power : quotient_of(1, power);
  }
  return Complex(std::pow(Wide(base), Wide(exponent)));
}

Complex larger(Complex x, Complex y) {
  if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
  return holds_lexicographically(std::less<>(), x, y) ? y : x;
}

Complex smaller(Complex x, Complex y) {
  if (is_nan(x) || is_nan(y)) return is_nan(x) ? x : y;
  return holds_lexicographically(std::less<>(), y, x) ? y : x;
}

}  // namespace alate::graph
