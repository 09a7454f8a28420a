// Tolerances for a backend's results against the reference's, by op.
#pragma once

#include <string_view>

#include "tests/conformance/cases/case.h"

namespace alate::conformance {

enum class Bound : std::uint8_t {
  exact,          // the same bits (any NaN for a NaN)
  of_element,     // units in the last place of the reference's element
  of_magnitudes,  // units in the last place of what the op gives for the operands' magnitudes: sums of products, in
                  // which large terms may cancel
  of_largest,     // units in the last place of the largest finite element of the result, but at least 1
};

/// Integers and bools are exact whatever the op. Elements that are not finite must be the same; so must the signs of
/// zeros where `signed_zeros`. Complex results are compared as points of the plane.
struct Tolerance {
  Bound bound = Bound::exact;
  double halves = 0;   // f16 and bf16
  double singles = 0;  // f32 and c64
  double doubles = 0;  // f64 and c128
  bool signed_zeros = true;
  bool at_least_one = false;  // of_element: units of numbers below 1 are those of 1
  bool any_nan = false;       // of small floats, which are compared by their bits otherwise

  double ulps(DType dtype) const;
};

Tolerance tolerance_of(const Case& subject);

/// Correct behaviours of a backend that differ from the reference; README.md gives the reason for each.
struct BackendTraits {
  /// Reads or writes zeros for subnormal numbers, so a result is right that equals the reference's for operands with
  /// zeros in their place, or either with zeros in the place of its own.
  bool flushes_subnormals = false;
  /// Computes with complex numbers as the textbook's formulas say, so what it gives for infinities, NaNs, and parts
  /// whose squares overflow or underflow is its own.
  bool complex_edges = true;
  /// Times the tolerance of complex arithmetic; functions' errors are then small beside 1, not beside the result.
  double complex_factor = 1;
  /// Times the tolerance of functions of real numbers (exp, tanh, …).
  double function_factor = 1;
  /// Gives powers of subnormal numbers that are neither theirs nor those of zero, so operands of pow have zeros there.
  bool powers_of_subnormals = true;
  /// Gives some NaN of a small float for any other.
  bool keeps_nan_bits = true;
};

BackendTraits traits_of(std::string_view backend);
Tolerance tolerance_of(const Case& subject, const BackendTraits& traits);

}  // namespace alate::conformance
