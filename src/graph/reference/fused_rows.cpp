// Fused ops that work on one row at a time.
#include <cmath>
#include <limits>
#include <numbers>

#include "alate/error.h"
#include "graph/reference/elementwise.h"
#include "graph/reference/extremes.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"

namespace alate::graph {
namespace {

// x · Φ(x), and its approximation by tanh (Hendrycks and Gimpel 2016, section 2).
double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) {
  const double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // of 2/π
  return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return larger(x, 0.0);
    case Activation::gelu_erf: return gelu_erf(x);
    case Activation::gelu_tanh: return gelu_tanh(x);
    case Activation::silu: return x * logistic(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::sigmoid: return logistic(x);
    case Activation::quick_gelu: return x * logistic(1.702 * x);
  }
  throw make_error(ErrorCode::internal, "dense has an activation that the reference interpreter does not know");
}

// The rows of the last axis, one after the other.
struct Rows {
  std::vector<double> values;
  std::size_t width;

  explicit Rows(const Tensor& x) : values(load_floats(x)), width(static_cast<std::size_t>(x.extent(x.rank() - 1))) {}
  std::size_t count() const { return width == 0 ? 0 : values.size() / width; }
  std::span<double> operator[](std::size_t row) { return std::span(values).subspan(row * width, width); }
};

}  // namespace

Tensor reference_softmax(const ReferenceCall& call) {
  const Tensor& x = call.operand(0);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const auto axis = static_cast<std::size_t>(call.as<Axis>().axis);
  const auto step = static_cast<std::size_t>(product(std::span(extents).subspan(axis + 1))),
             length = static_cast<std::size_t>(extents[axis]);
  std::vector<double> values = load_floats(x);
  for (std::size_t block = 0; block < values.size(); block += step * length) {
    for (std::size_t first = block; first < block + step; ++first) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::size_t i = 0; i < length; ++i) largest = larger(largest, values[first + i * step]);
      for (std::size_t i = 0; i < length; ++i) sum += std::exp(values[first + i * step] - largest);
      for (std::size_t i = 0; i < length; ++i)
        values[first + i * step] = std::exp(values[first + i * step] - largest) / sum;
    }
  }
  return store_floats(call.shape(), values);
}

Tensor reference_gelu(const ReferenceCall& call) {
  return map_floats(call, call.as<Gelu>().tanh_approximation ? gelu_tanh : gelu_erf);
}

Tensor reference_silu(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return x * logistic(x); });
}

Tensor reference_layer_norm(const ReferenceCall& call) {
  Rows x(call.operand(0));
  const std::vector<double> scale = load_floats(call.operand(1)), shift = load_floats(call.operand(2));
  const auto width = static_cast<double>(x.width);
  for (std::size_t row = 0; row < x.count(); ++row) {
    double mean = 0, variance = 0;
    for (const double value : x[row]) mean += value / width;
    for (const double value : x[row]) variance += (value - mean) * (value - mean) / width;
    const double deviation = std::sqrt(variance + call.as<Norm>().epsilon);
    for (std::size_t i = 0; i < x.width; ++i) x[row][i] = (x[row][i] - mean) / deviation * scale[i] + shift[i];
  }
  return store_floats(call.shape(), x.values);
}

Tensor reference_normalize(const ReferenceCall& call) {
  Rows x(call.operand(0));
  for (std::size_t row = 0; row < x.count(); ++row) {
    double squares = 0;
    for (const double value : x[row]) squares += value * value;
    const double divisor = larger(std::sqrt(squares), call.as<Norm>().epsilon);
    for (double& value : x[row]) value /= divisor;
  }
  return store_floats(call.shape(), x.values);
}

Tensor reference_dense(const ReferenceCall& call) {
  const Dense& dense = call.as<Dense>();
  const Tensor &x = call.operand(0), &weight = call.operand(1);
  const std::int64_t inner = weight.extent(1), columns = weight.extent(0);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const std::int64_t rows = product(std::span(extents).first(x.rank() - 1));
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  matmul({rows, inner, columns}, load_floats(x).data(), load_floats(transposed(weight, Numbers{1, 0})).data(),
         result.data());
  const std::vector<double> bias = dense.has_bias ? load_floats(call.operand(2)) : std::vector<double>();
  const std::vector<double> residual = dense.has_residual ? load_floats(call.operands.back()) : std::vector<double>();
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (dense.has_bias) result[i] += bias[i % bias.size()];
    result[i] = activate(dense.activation, result[i]);
    if (dense.has_residual) result[i] += residual[i];
  }
  return store_floats(call.shape(), result);
}

}  // namespace alate::graph
