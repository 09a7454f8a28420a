// Rounding of a layer's weights so that its outputs, not its weights, change least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/row_rounding.h"

namespace alate::quantization {

/// Inputs of a layer: [rows, columns], a row a token.
struct Inputs {
  std::vector<float> values;
  std::size_t columns = 0;

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// The mean of each column.
std::vector<double> column_means(const Inputs& inputs);

/// How inputs vary together: Σ (x - mean)(x - mean)ᵀ / rows over the rows, [columns, columns]; above the diagonal are
/// zeros.
std::vector<double> covariance(const Inputs& inputs, std::span<const double> means);

/// The order in which GPTQ takes the columns, and the root of the inverse of H in that order: all that it needs of a
/// layer's inputs, for any weights.
class GptqPlan {
 public:
  /// `covariance` is as above; `damping` times the mean of its diagonal is added to the diagonal.
  GptqPlan(std::span<const double> covariance, std::size_t columns, double damping = 0.2);

  /// The weight f32 [rows, columns] in 8 bits, each row in `runs` runs with a scale of their own. Column after column
  /// is rounded, and what rounding changes is made up for in the columns still to come. Frantar and others 2022,
  /// "GPTQ", with columns in falling order of H's diagonal. Equal for any number of threads. Throws as
  /// tensor::round_rows.
  tensor::ScaledRows round(const Tensor& weight, std::int64_t runs = 1) const;

 private:
  std::size_t columns_;
  std::vector<std::size_t> order_;
  std::vector<float> root_;  // [columns, columns], upper triangular
};

}  // namespace alate::quantization
