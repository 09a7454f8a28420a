// Applies a function to every element, in the form that its dtype is computed in.
#pragma once

#include <type_traits>
#include <vector>

#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {

inline std::vector<double> load_as(const Tensor& tensor, double) { return load_floats(tensor); }
inline std::vector<Complex> load_as(const Tensor& tensor, Complex) { return load_complex(tensor); }
inline std::vector<std::uint64_t> load_as(const Tensor& tensor, std::uint64_t) { return load_words(tensor); }
inline std::vector<std::int64_t> load_as(const Tensor& tensor, std::int64_t) {
  const std::vector<std::uint64_t> words = load_words(tensor);
  return {words.begin(), words.end()};
}

inline Tensor store_any(const Shape& shape, const std::vector<double>& values) { return store_floats(shape, values); }
inline Tensor store_any(const Shape& shape, const std::vector<Complex>& values) { return store_complex(shape, values); }
inline Tensor store_any(const Shape& shape, const std::vector<std::uint64_t>& words) {
  return store_words(shape, words);
}
inline Tensor store_any(const Shape& shape, const std::vector<std::int64_t>& words) {
  return store_words(shape, std::vector<std::uint64_t>(words.begin(), words.end()));
}

/// `function` of the elements of tensors of one shape, each loaded as `Number`; stored as what the function gives.
template <typename Number, typename Function, typename... Tensors>
Tensor map_as(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  const auto apply = [&](const auto& elements, const auto&... more) {
    std::vector<decltype(function(elements[0], more[0]...))> results(elements.size());
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = function(elements[i], more[i]...);
    return store_any(shape, results);
  };
  return apply(load_as(first, Number{}), load_as(others, Number{})...);
}

/// `function`, generic over double, std::int64_t and std::uint64_t, of the elements of tensors of numbers (bool as
/// unsigned). What has no order, complex numbers, is not taken.
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

/// `function` of each double.
template <typename Function>
Tensor map_floats(const ReferenceCall& call, Function function) {
  return map_as<double>(call.shape(), function, call.operand(0));
}

/// `function`, generic over double and Complex, of each element.
template <typename Function>
Tensor map_analytic(const ReferenceCall& call, Function function) {
  if (is_complex(call.operand(0).dtype())) return map_as<Complex>(call.shape(), function, call.operand(0));
  return map_floats(call, function);
}

/// `operation` on integers without their sign, so that they wrap; on other numbers as it is.
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
