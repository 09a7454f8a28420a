// Row-wise fused ops.
#include <cmath>
#include <limits>
#include <numbers>

#include "alate/error.h"
#include "graph/operands.h"
#include "graph/reference/elementwise/elementwise.h"
#include "graph/reference/extremes.h"
#include "graph/reference/fused/epilogue.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"
#include "tensor/half.h"

namespace alate::graph {
namespace {

// The rows along the last axis, concatenated.
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
  const Activation gelu = call.as<Gelu>().tanh_approximation ? Activation::gelu_tanh : Activation::gelu_erf;
  return map_floats(call, [gelu](double x) { return activate(gelu, x); });
}

Tensor reference_silu(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return activate(Activation::silu, x); });
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
  const auto given = DenseOperands<Tensor>::of(dense, call.operands);
  const Tensor &x = given.x, &weight = given.weight;
  const std::int64_t inner = weight.extent(1), columns = weight.extent(0);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const std::int64_t rows = product(std::span(extents).first(x.rank() - 1));
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  std::vector<double> values = load_floats(x);
  if (x.dtype() == DType::f32 && weight.dtype() == DType::bf16) {
    for (double& value : values) value = tensor::bf16_to_float(tensor::float_to_bf16(static_cast<float>(value)));
  }
  matmul({rows, inner, columns}, values, load_floats(transposed(weight, Numbers{1, 0})), result);
  add_epilogue(dense.activation, given, result);
  return store_floats(call.shape(), result);
}

}  // namespace alate::graph
