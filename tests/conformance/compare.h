// Compares a backend's tensor with the reference's.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "alate/tensor.h"
#include "tests/conformance/tolerances.h"

namespace alate::conformance {

/// What differs (elements, how far in units in the last place), or nothing. `magnitudes` is the op's result for the
/// operands' magnitudes; only read for Bound::of_magnitudes.
std::optional<std::string> difference(const Tensor& found, const Tensor& wanted, const Tensor* magnitudes,
                                      const Tolerance& tolerance);
/// The same where several answers are right because subnormals may be flushed: each element, as it is or flushed, must
/// be near to that of one of them. The first is shown.
std::optional<std::string> difference(const Tensor& found, std::span<const Tensor> answers, const Tensor* magnitudes,
                                      const Tolerance& tolerance);

/// One unit in the last place of numbers of this size.
double unit_of(DType dtype, double value);

}  // namespace alate::conformance
