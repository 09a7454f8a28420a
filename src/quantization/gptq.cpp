#include "quantization/gptq.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "quantization/inverse_root.h"

namespace alate::quantization {
namespace {

constexpr std::size_t kCovarianceRows = 16;  // computed by a thread at a time
constexpr std::size_t kWeightRows = 32;      // likewise; their columns stay in its cache

// to[i] += factor · from[i]
void add_row(float factor, const float* from, std::size_t width, float* to) {
  for (std::size_t i = 0; i < width; ++i) to[i] += factor * from[i];
}

// sums += xᵀx of four rows of n numbers, for rows [begin, end) of the product up to its diagonal.
void add_four_products(const float* x, std::size_t n, std::size_t begin, std::size_t end, float* sums) {
  const float *y = x + n, *z = y + n, *w = z + n;
  for (std::size_t i = begin; i < end; ++i) {
    float* to = sums + (i - begin) * n;
    const float a = x[i], b = y[i], c = z[i], d = w[i];
    for (std::size_t j = 0; j <= i; ++j) to[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * w[j]);
  }
}

}  // namespace

std::vector<double> column_means(const Inputs& inputs) {
  std::vector<double> means(inputs.columns);
  for (std::size_t row = 0; row < inputs.rows(); ++row) {
    for (std::size_t i = 0; i < inputs.columns; ++i) means[i] += double{inputs.values[row * inputs.columns + i]};
  }
  for (double& mean : means) mean /= static_cast<double>(std::max<std::size_t>(inputs.rows(), 1));
  return means;
}

std::vector<double> covariance(const Inputs& inputs, std::span<const double> means) {
  const std::size_t n = inputs.columns, rows = inputs.rows(), parts = (n + kCovarianceRows - 1) / kCovarianceRows;
  std::vector<float> centered = inputs.values;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < n; ++i) centered[row * n + i] -= static_cast<float>(means[i]);
  }
  std::vector<double> result(n * n);
  base::ThreadPool::shared().parallel_for(parts, 0, [&](std::size_t part, std::size_t) {
    const std::size_t begin = part * kCovarianceRows, end = std::min(n, begin + kCovarianceRows);
    std::vector<float> sums((end - begin) * n);
    std::size_t row = 0;
    for (; row + 4 <= rows; row += 4) add_four_products(centered.data() + row * n, n, begin, end, sums.data());
    for (; row < rows; ++row) {
      const float* x = centered.data() + row * n;
      for (std::size_t i = begin; i < end; ++i) add_row(x[i], x, i + 1, sums.data() + (i - begin) * n);
    }
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        result[i * n + j] = double{sums[(i - begin) * n + j]} / static_cast<double>(std::max<std::size_t>(rows, 1));
    }
  });
  return result;
}

GptqPlan::GptqPlan(std::span<const double> covariance, std::size_t columns, double damping)
    : columns_(columns), order_(columns), root_(columns * columns) {
  const auto at = [&](std::size_t i, std::size_t j) { return covariance[std::max(i, j) * columns + std::min(i, j)]; };
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, std::ranges::greater(), [&](std::size_t i) { return at(i, i); });
  double added = 0;
  for (std::size_t i = 0; i < columns; ++i) added += at(i, i);
  added = added * damping / static_cast<double>(std::max<std::size_t>(columns, 1));
  if (!(added > 0)) added = 1;  // constant inputs: H is the identity, and columns are rounded independently
  std::vector<double> matrix(columns * columns);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * columns + j] = at(order_[i], order_[j]) + (i == j ? added : 0);
  }
  inverse_root(matrix, columns);
  std::ranges::transform(matrix, root_.begin(), [](double value) { return static_cast<float>(value); });
}

tensor::ScaledRows GptqPlan::round(const Tensor& weight, std::int64_t groups) const {
  tensor::ScaledRows result = tensor::round_rows(weight, groups);  // for its scales, which are kept
  const std::span<const float> values = weight.values<float>(), scales = result.scales.values<float>();
  const std::span<std::int8_t> stored = result.stored.mutable_values<std::int8_t>();
  const auto rows = static_cast<std::size_t>(weight.extent(0));
  const std::size_t n = columns_, scales_a_row = static_cast<std::size_t>(groups), length = n / scales_a_row;
  base::ThreadPool::shared().parallel_for(
      (rows + kWeightRows - 1) / kWeightRows, 0, [&](std::size_t part, std::size_t) {
        const std::size_t begin = part * kWeightRows, count = std::min(rows - begin, kWeightRows);
        std::vector<float> left(n * count), error(count);  // columns of the weights are contiguous
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t row = 0; row < count; ++row) left[i * count + row] = values[(begin + row) * n + order_[i]];
        }
        for (std::size_t i = 0; i < n; ++i) {
          const float* root = root_.data() + i * n;
          const std::size_t run = order_[i] / length;
          for (std::size_t row = 0; row < count; ++row) {
            const float value = left[i * count + row], scale = scales[(begin + row) * scales_a_row + run];
            const float rounded = tensor::round_to_stored(value, scale);
            stored[(begin + row) * n + order_[i]] = static_cast<std::int8_t>(rounded);
            error[row] = (rounded * scale - value) / root[i];
          }
          for (std::size_t j = i + 1; j < n; ++j) add_row(root[j], error.data(), count, left.data() + j * count);
        }
      });
  return result;
}

}  // namespace alate::quantization
