// Element-wise application of functions in the compute type of a dtype.
#pragma once

#include <type_traits>
#include <vector>

#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {

/// The elements of a tensor in the form of the second argument, of which only the type counts.
std::vector<double> load_as(const Tensor& tensor, double);
std::vector<Complex> load_as(const Tensor& tensor, Complex);
std::vector<std::uint64_t> load_as(const Tensor& tensor, std::uint64_t);
std::vector<std::int64_t> load_as(const Tensor& tensor, std::int64_t);

/// A tensor of the elements, each converted to the shape's dtype.
Tensor store_any(const Shape& shape, const std::vector<double>& values);
Tensor store_any(const Shape& shape, const std::vector<Complex>& values);
Tensor store_any(const Shape& shape, const std::vector<std::uint64_t>& words);
Tensor store_any(const Shape& shape, const std::vector<std::int64_t>& words);

/// Applies `function` to the elements of tensors of one shape, each loaded as `Number`; stores its results by their
/// type.
template <typename Number, typename Function, typename... Tensors>
Tensor map_as(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  const auto apply = [&](const auto& elements, const auto&... more) {
    std::vector<decltype(function(elements[0], more[0]...))> results(elements.size());
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = function(elements[i], more[i]...);
    return store_any(shape, results);
  };
  return apply(load_as(first, Number{}), load_as(others, Number{})...);
}

/// The same for `function` generic over double, std::int64_t and std::uint64_t (bool is unsigned). Complex numbers,
/// which have no order, are not supported.
template <typename Function, typename... Tensors>
Tensor map_numbers(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_float(first.dtype())) return map_as<double>(shape, function, first, others...);
  if (is_signed_integer(first.dtype())) return map_as<std::int64_t>(shape, function, first, others...);
  return map_as<std::uint64_t>(shape, function, first, others...);
}

/// The same with a function that takes Complex too.
template <typename Function, typename... Tensors>
Tensor map_all(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_complex(first.dtype())) return map_as<Complex>(shape, function, first, others...);
  return map_numbers(shape, function, first, others...);
}

/// Applies `function` to each element as a double.
template <typename Function>
Tensor map_floats(const ReferenceCall& call, Function function) {
  return map_as<double>(call.shape(), function, call.operand(0));
}

/// Applies `function`, generic over double and Complex, to each element.
template <typename Function>
Tensor map_analytic(const ReferenceCall& call, Function function) {
  if (is_complex(call.operand(0).dtype())) return map_as<Complex>(call.shape(), function, call.operand(0));
  return map_floats(call, function);
}

/// `operation` on integers as unsigned, so that they wrap; other numbers are passed as they are.
template <typename Operation>
auto wrapping(Operation operation) {
  return [operation]<typename Number, typename... Numbers>(Number x, Numbers... more) -> Number {
    if constexpr (std::is_integral_v<Number>) {
      return static_cast<Number>(operation(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(more)...));
    } else {
      return operation(x, more...);
    }
  };
}

}  // namespace alate::graph
