// Runs one op, or a graph, in the reference interpreter.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "alate/error.h"
#include "graph/builder.h"
#include "graph/interpreter.h"

namespace alate::graph {

/// A graph whose parameters are as `shapes` and whose outputs are the results of one op over them.
inline Graph graph_of(Op op, const std::vector<Shape>& shapes, Attributes attributes = NoAttributes{},
                      std::vector<Region> regions = {}) {
  Builder b("one " + std::string(to_string(op)));
  std::vector<Value> operands;
  for (const Shape& shape : shapes)
    operands.push_back(b.parameter("operand " + std::to_string(operands.size()), shape));
  const std::vector<Value> results = b.emit(op, operands, std::move(attributes), std::move(regions));
  for (std::size_t i = 0; i < results.size(); ++i) b.output("result " + std::to_string(i), results[i]);
  return b.finish();
}

/// The first result of an op over these tensors.
inline Tensor run_op(Op op, const std::vector<Tensor>& operands, Attributes attributes = NoAttributes{}) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  return interpret(graph_of(op, shapes, std::move(attributes)), operands, base::Cancellation::never()).front();
}

template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}

template <typename T>
Tensor row(std::initializer_list<T> values) {
  return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

/// 0, 1, 2, … as f32 of these extents.
inline Tensor counting(std::vector<std::int64_t> extents) {
  Tensor tensor = Tensor::zeros(detail::shape_of(DType::f32, extents));
  float next = 0;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return tensor;
}

/// The error that `action` throws, as "code: message"; "accepted" when it throws none.
template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(alate::to_string(error.code())) + ": " + error.message();
  }
  return "accepted";
}

}  // namespace alate::graph
