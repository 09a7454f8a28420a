#include "tests/unit/graph/gradients/gradients_check.h"

#include <cmath>
#include <complex>
#include <cstring>

#include "graph/gradients.h"

namespace alate::graph {
namespace {

bool is_checked(DType dtype) { return dtype == DType::f64 || dtype == DType::c128; }

// The parts of an f64 or c128 tensor.
std::vector<double> parts_of(const Tensor& tensor) {
  std::vector<double> parts(tensor.byte_count() / sizeof(double));
  if (!parts.empty()) std::memcpy(parts.data(), tensor.bytes().data(), tensor.byte_count());
  return parts;
}

Tensor of_parts(const Shape& shape, const std::vector<double>& parts) {
  Tensor tensor = Tensor::zeros(shape);
  if (!parts.empty()) std::memcpy(tensor.mutable_bytes().data(), parts.data(), tensor.byte_count());
  return tensor;
}

// Σ Re(cotangent · output)
double loss(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& cotangents) {
  const std::vector<Tensor> outputs = interpret(graph, inputs, base::Cancellation::never());
  double sum = 0;
  std::size_t next = 0;
  for (const std::size_t place : differentiable_outputs(graph)) {
    const std::vector<double> y = parts_of(outputs[place]), c = parts_of(cotangents[next++]);
    const bool is_real = outputs[place].dtype() == DType::f64;
    for (std::size_t i = 0; i < y.size(); ++i) sum += (is_real || i % 2 == 0 ? 1 : -1) * c[i] * y[i];
  }
  return sum;
}

}  // namespace

Tensor scattered(const std::vector<std::int64_t>& extents, int seed, double low, double high, DType dtype) {
  Shape shape = detail::shape_of(dtype, extents);
  std::vector<double> parts(shape.byte_count() / sizeof(double));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // Multiples of the golden ratio are spread evenly over the unit interval (Weyl's sequence).
    const double place = std::fmod(0.6180339887498949 * static_cast<double>(i + 1) + 0.37 * seed, 1.0);
    parts[i] = low + (high - low) * place;
  }
  return of_parts(shape, parts);
}

std::vector<std::size_t> differentiable_outputs(const Graph& graph) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (is_checked(graph.shape(graph.outputs()[i].value).dtype)) places.push_back(i);
  }
  return places;
}

std::vector<std::size_t> differentiable_parameters(const Graph& graph) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
    if (is_checked(graph.parameters()[i].shape.dtype)) places.push_back(i);
  }
  return places;
}

std::vector<Tensor> gradients_at(const Graph& graph, std::vector<Tensor> inputs,
                                 const std::vector<Tensor>& cotangents) {
  const Graph back = vector_jacobian_product(graph, differentiable_outputs(graph), differentiable_parameters(graph));
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  return interpret(back, inputs, base::Cancellation::never());
}

void expect_gradients(const Graph& graph, const std::vector<Tensor>& inputs, double tolerance) {
  std::vector<Tensor> cotangents;
  const std::vector<Tensor> outputs = interpret(graph, inputs, base::Cancellation::never());
  for (const std::size_t place : differentiable_outputs(graph)) {
    std::vector<std::int64_t> extents;
    for (const Dim dim : outputs[place].shape().dims) extents.push_back(dim.number());
    cotangents.push_back(scattered(extents, 7 + static_cast<int>(place), 0.5, 2, outputs[place].dtype()));
  }
  ASSERT_FALSE(cotangents.empty()) << graph.name();
  const std::vector<Tensor> found = gradients_at(graph, inputs, cotangents);
  const std::vector<std::size_t> parameters = differentiable_parameters(graph);
  ASSERT_EQ(found.size(), parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor& input = inputs[parameters[p]];
    ASSERT_EQ(found[p].shape(), input.shape()) << graph.name();
    const std::vector<double> gradient = parts_of(found[p]), at = parts_of(input);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double step = 1e-5;
      std::vector<Tensor> moved = inputs;
      std::vector<double> parts = at;
      parts[i] = at[i] + step;
      moved[parameters[p]] = of_parts(input.shape(), parts);
      const double above = loss(graph, moved, cotangents);
      parts[i] = at[i] - step;
      moved[parameters[p]] = of_parts(input.shape(), parts);
      const double below = loss(graph, moved, cotangents);
      // The gradient c of a complex number stands for Re(c · dz): the imaginary part's slope is -Im(c).
      const double sign = input.dtype() == DType::c128 && i % 2 == 1 ? -1 : 1;
      const double expected = sign * (above - below) / (2 * step);
      ASSERT_NEAR(gradient[i], expected, tolerance * (1 + std::abs(expected)))
          << graph.name() << ": parameter " << parameters[p] << ", part " << i;
    }
  }
}

void expect_gradients(Op op, const std::vector<Tensor>& inputs, Attributes attributes, double tolerance) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  SCOPED_TRACE(to_string(op));
  ASSERT_NO_THROW(expect_gradients(graph_of(op, shapes, std::move(attributes)), inputs, tolerance));
}

}  // namespace alate::graph
