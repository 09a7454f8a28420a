// Applies a function to every element, in the form that its dtype is computed in.
#pragma once

#include <type_traits>
#include <vector>

#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {

/// `function` of each double.
template <typename Function>
Tensor map_floats(const ReferenceCall& call, Function function) {
  std::vector<double> values = load_floats(call.operand(0));
  for (double& value : values) value = function(value);
  return store_floats(call.shape(), values);
}

/// What `function`, generic over double, std::int64_t and std::uint64_t, gives for the elements of a tensor of numbers
/// (bool as unsigned) and of more tensors of the same shape; as a tensor of `shape`, whose dtype is a float's where the
/// function gives doubles.
template <typename Function, typename... Tensors>
Tensor map_numbers(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  const auto apply = [&](const auto& convert, const auto&... elements) {
    using Result = decltype(function(convert(elements[0])...));
    constexpr bool kGivesFloats = std::is_same_v<Result, double>;
    std::vector<std::conditional_t<kGivesFloats, double, std::uint64_t>> results(
        static_cast<std::size_t>(first.element_count()));
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = static_cast<typename decltype(results)::value_type>(function(convert(elements[i])...));
    if constexpr (kGivesFloats) {
      return store_floats(shape, results);
    } else {
      return store_words(shape, results);
    }
  };
  if (is_float(first.dtype())) return apply([](double x) { return x; }, load_floats(first), load_floats(others)...);
  if (is_signed_integer(first.dtype()))
    return apply([](std::uint64_t x) { return static_cast<std::int64_t>(x); }, load_words(first),
                 load_words(others)...);
  return apply([](std::uint64_t x) { return x; }, load_words(first), load_words(others)...);
}

/// `operation` on integers without their sign, so that they wrap; on doubles as it is.
template <typename Operation>
auto wrapping(Operation operation) {
  return [operation]<typename Number, typename... Numbers>(Number x, Numbers... more) -> Number {
    if constexpr (std::is_same_v<Number, double>) {
      return operation(x, more...);
    } else {
      return static_cast<Number>(operation(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(more)...));
    }
  };
}

}  // namespace alate::graph
