#include "tests/conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/conformance/cases/elements.h"

namespace alate::conformance {
namespace {

constexpr int kMostShown = 5;

int lowest_exponent(DType dtype) {
  switch (dtype) {
    case DType::f16: return -14;
    case DType::f64:
    case DType::c128: return -1022;
    default: return -126;
  }
}

class Comparison {
 public:
  Comparison(const Tensor& found, const Tensor& wanted, const Tensor* magnitudes, const Tolerance& tolerance)
      : found_(found), wanted_(wanted), magnitudes_(magnitudes), tolerance_(tolerance) {
    if (tolerance.bound == Bound::of_largest) {
      for (std::int64_t i = 0; i < wanted.element_count(); ++i) {
        const double size = size_at(wanted, i);
        if (std::isfinite(size)) largest_ = std::max(largest_, size);
      }
    }
  }

  // Units in the last place between the elements, in the measure of the bound; infinity where no number of units is
  // enough.
  double distance(std::int64_t i) const {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    const DType dtype = wanted_.dtype();
    if (is_computed_float(dtype)) {
      const double x = float_at(found_, i), y = float_at(wanted_, i);
      if (std::isnan(y)) return std::isnan(x) ? 0 : kFar;
      if (x == y) return x == 0 && tolerance_.signed_zeros && std::signbit(x) != std::signbit(y) ? kFar : 0;
      if (!std::isfinite(x) || !std::isfinite(y)) return overflow_distance(x, y);
      return std::abs(x - y) / unit(i);
    }
    if (is_complex(dtype)) {
      const std::complex<double> x = complex_at(found_, i), y = complex_at(wanted_, i);
      if (x == y || bits_equal(x, y)) return 0;
      const bool is_finite = std::isfinite(y.real()) && std::isfinite(y.imag());
      // Which part of a complex number is NaN or infinite depends on the formula: it must not be finite.
      if (!is_finite) return std::isfinite(x.real()) && std::isfinite(x.imag()) ? kFar : 0;
      return std::abs(x - y) / unit(i);
    }
    const std::uint64_t x = bits_at(found_, i), y = bits_at(wanted_, i);
    if (x == y) return 0;
    return tolerance_.any_nan && is_small_nan(dtype, x) && is_small_nan(dtype, y) ? 0 : kFar;
  }

 private:
  static bool bits_equal(std::complex<double> x, std::complex<double> y) {
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    return same(x.real(), y.real()) && same(x.imag(), y.imag());
  }

  static double size_at(const Tensor& tensor, std::int64_t i) {
    if (is_computed_float(tensor.dtype())) return std::abs(float_at(tensor, i));
    return is_complex(tensor.dtype()) ? std::abs(complex_at(tensor, i)) : 0;
  }

  // Between the largest number and infinity there is one unit.
  double overflow_distance(double x, double y) const {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    if (std::isnan(x) || std::signbit(x) != std::signbit(y) || tolerance_.bound == Bound::exact) return kFar;
    const int top = wanted_.dtype() == DType::f16 ? 15 : wanted_.dtype() == DType::f64 ? 1023 : 127;
    const double finite = std::isfinite(x) ? x : y;
    const double unit = std::ldexp(1.0, top - fraction_bits(wanted_.dtype()));
    return (std::ldexp(2.0, top - 1) - std::abs(finite) / 2) * 2 / unit;
  }

  double unit(std::int64_t i) const {
    switch (tolerance_.bound) {
      case Bound::of_magnitudes: return unit_of(wanted_.dtype(), size_at(*magnitudes_, i));
      case Bound::of_largest: return unit_of(wanted_.dtype(), largest_);
      default: {
        const double size = size_at(wanted_, i);
        return unit_of(wanted_.dtype(), tolerance_.at_least_one ? std::max(size, 1.0) : size);
      }
    }
  }

  const Tensor& found_;
  const Tensor& wanted_;
  const Tensor* magnitudes_;
  const Tolerance& tolerance_;
  double largest_ = 1;
};

std::string place_of(const Shape& shape, std::int64_t i) {
  std::string place;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    const std::int64_t extent = shape.dims[axis].number();
    place = std::to_string(i % extent) + (place.empty() ? "" : ",") + place;
    i /= extent;
  }
  return "[" + place + "]";
}

}  // namespace

double unit_of(DType dtype, double value) {
  const double size = std::abs(value);
  const int exponent =
      size == 0 || !std::isfinite(size) ? lowest_exponent(dtype) : std::max(std::ilogb(size), lowest_exponent(dtype));
  return std::ldexp(1.0, exponent - fraction_bits(dtype));
}

std::optional<std::string> difference(const Tensor& found, const Tensor& wanted, const Tensor* magnitudes,
                                      const Tolerance& tolerance) {
  return difference(found, {&wanted, 1}, magnitudes, tolerance);
}

std::optional<std::string> difference(const Tensor& found, std::span<const Tensor> answers, const Tensor* magnitudes,
                                      const Tolerance& tolerance) {
  const Tensor& wanted = answers.front();
  if (found.shape() != wanted.shape())
    return "the result is " + to_string(found.shape()) + ", the reference's " + to_string(wanted.shape());
  std::vector<Comparison> comparisons;
  for (const Tensor& answer : answers) comparisons.emplace_back(found, answer, magnitudes, tolerance);
  const Tensor found_zeros = flushed(found);
  for (std::size_t i = 1; i < answers.size(); ++i)
    comparisons.emplace_back(found_zeros, answers[i], magnitudes, tolerance);
  // A subnormal that counts as zero is neither above nor below the other zero.
  Tolerance unsigned_zeros = tolerance;
  unsigned_zeros.signed_zeros = false;
  std::vector<Comparison> of_subnormals;
  for (std::size_t i = 1; i < answers.size(); ++i)
    of_subnormals.emplace_back(found_zeros, answers[i], magnitudes, unsigned_zeros);
  const auto is_float = is_computed_float(wanted.dtype());
  const double allowed = tolerance.ulps(wanted.dtype());
  std::string shown;
  std::int64_t differing = 0;
  double farthest = 0;
  for (std::int64_t i = 0; i < wanted.element_count(); ++i) {
    double distance = comparisons.front().distance(i);
    for (std::size_t k = 1; k < comparisons.size() && !(distance <= allowed); ++k)
      distance = std::fmin(distance, comparisons[k].distance(i));
    if (!(distance <= allowed) && is_float && float_at(wanted, i) != 0) {
      for (const Comparison& comparison : of_subnormals) distance = std::fmin(distance, comparison.distance(i));
    }
    if (distance <= allowed) continue;
    farthest = std::max(farthest, distance);
    if (++differing > kMostShown) continue;
    shown += "\n    " + place_of(wanted.shape(), i) + " is " + print_at(found, i) + ", the reference " +
             print_at(wanted, i) + ": " + std::to_string(distance) + " ulp";
  }
  if (differing == 0) return {};
  return std::to_string(differing) + " of " + std::to_string(wanted.element_count()) + " elements of " +
         to_string(wanted.shape()) + " differ by up to " + std::to_string(farthest) + " ulp (allowed " +
         std::to_string(allowed) + "):" + shown;
}

}  // namespace alate::conformance
