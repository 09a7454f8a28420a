// GPTQ: rounding of a layer's weights so that its outputs, not its weights, change least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/row_rounding.h"

namespace alate::quantization {

/// Inputs of a layer: [rows, columns], one row for each token.
struct Inputs {
  std::vector<float> values;
  std::size_t columns = 0;

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// The mean of each column.
std::vector<double> column_means(const Inputs& inputs);

/// The inputs' covariance: Σ (x - mean)(x - mean)ᵀ / rows over the rows, [columns, columns]; zeros above the diagonal.
std::vector<double> covariance(const Inputs& inputs, std::span<const double> means);

/// The order in which GPTQ takes the columns, and the root of H's inverse in that order: all that it needs of a layer's
/// inputs, for any weights.
class GptqPlan {
 public:
  /// `covariance` is as above; `damping` times the mean of its diagonal is added to the diagonal.
  GptqPlan(std::span<const double> covariance, std::size_t columns, double damping = 0.2);

  /// Quantizes the weight, f32 [rows, columns], to 8 bits, each row in `groups` groups with a scale each. Columns are
  /// rounded one after another, and each column's rounding error is compensated in the columns still to come. Frantar
  /// and others 2022, "GPTQ", with columns in descending order of H's diagonal. Equal for any number of threads. Throws
  /// as tensor::round_rows.
  tensor::ScaledRows round(const Tensor& weight, std::int64_t groups = 1) const;

 private:
  std::size_t columns_;
  std::vector<std::size_t> order_;
  std::vector<float> root_;  // [columns, columns], upper triangular
};

}  // namespace alate::quantization
