// The errors that rounding the operands of a linear layer causes: measured, and derived from the steps of the rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tensor/rotation.h"

namespace alate::quantization {

/// A row of a product's operand, in the numbers that are rounded, with the distance between the numbers that it is
/// rounded to.
struct Operand {
  std::vector<double> values, steps;
};

/// How the operands of a product are rounded.
struct Rounded {
  enum class Kind { float32, int8, bfloat16, float16 };

  Kind kind = Kind::float32;
  std::size_t groups = 1, rotation = 0;  // of int8

  Operand input(std::span<const float> row) const {
    Operand operand = rotated(row, 1);
    switch (kind) {
      case Kind::float32:
      case Kind::float16: break;
      case Kind::bfloat16: operand.steps = float_steps(operand.values, 7, 0); break;
      case Kind::int8:  // 256 numbers from the least to the greatest of each group, as quantized_dense
        each_group(operand, [](std::span<const double> group) {
          const auto [least, greatest] = std::ranges::minmax(group);
          return (greatest - least) / 255;
        });
    }
    return operand;
  }

  Operand weight(std::span<const float> row) const {
    Operand operand = rotated(row, 1.0 / static_cast<double>(std::max<std::size_t>(rotation, 1)));
    switch (kind) {
      case Kind::float32: break;
      case Kind::bfloat16: operand.steps = float_steps(operand.values, 7, 0); break;
      case Kind::float16: operand.steps = float_steps(operand.values, 10, 0x1p-24); break;
      case Kind::int8:  // 255 numbers around 0, as tensor::round_rows
        each_group(operand, [](std::span<const double> group) {
          double most = 0;
          for (const double value : group) most = std::max(most, std::abs(value));
          return most / 127;
        });
    }
    return operand;
  }

 private:
  Operand rotated(std::span<const float> row, double factor) const {
    Operand operand{.values = {row.begin(), row.end()}, .steps = std::vector<double>(row.size())};
    if (rotation <= 1) return operand;
    tensor::rotate(std::span(operand.values), rotation);
    for (double& value : operand.values) value *= factor;
    return operand;
  }

  template <typename StepOf>
  void each_group(Operand& operand, StepOf step_of) const {
    const std::size_t size = operand.values.size() / groups;
    for (std::size_t first = 0; first < operand.values.size(); first += size)
      std::fill_n(operand.steps.begin() + static_cast<std::ptrdiff_t>(first), size,
                  step_of(std::span<const double>(operand.values).subspan(first, size)));
  }

  /// The distance between floats with `bits` of mantissa around each number, `least` between the smallest.
  static std::vector<double> float_steps(std::span<const double> values, int bits, double least) {
    std::vector<double> steps;
    for (const double value : values)
      steps.push_back(value == 0 ? 0 : std::max(least, std::ldexp(1.0, std::ilogb(value) - bits)));
    return steps;
  }
};

/// Errors of some outputs of a layer. Operands that are rounded to the nearest are off by numbers dx and dw, uniform in
/// half a step to each side and independent of each other: their variances are step² / 12. So an output
/// Σ (x + dx) (w + dw) is off by an error of the variance Σ (dx² w² + x² dw² + dx² dw²), and by no more than
/// Σ (|dx| |w| + |x| |dw| + |dx| |dw|) with half steps.
struct LayerErrors {
  double squares = 0, derived_squares = 0;  // sums of squared errors, and of their variances
  double worst_share = 0;                   // the largest error, as a part of the most that is possible

  /// The root mean square error, in units of the derived one.
  double over_derived() const { return derived_squares == 0 ? 0 : std::sqrt(squares / derived_squares); }

  void add(double found, const Operand& x, const Operand& w) {
    double exact = 0, variance = 0, most = 0, magnitude = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const double a = x.values[i], b = w.values[i], da = x.steps[i], db = w.steps[i];
      exact += a * b;
      magnitude += std::abs(a * b);
      variance += (da * da * b * b + a * a * db * db + da * da * db * db / 12) / 12;
      most += (da * std::abs(b) + std::abs(a) * db + da * db / 2) / 2;
    }
    most += magnitude * 1e-5;  // sums are in float32
    const double error = std::abs(found - exact);
    squares += error * error;
    derived_squares += variance;
    worst_share = std::max(worst_share, error / most);
  }
};

}  // namespace alate::quantization
