// Computes with all elements of tensors at once, in the form that their dtype is computed in.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "graph/reference/values.h"

namespace alate::graph {

using ComplexNumber = std::complex<double>;

/// c64 and c128 elements, exactly; stored with each part rounded once.
inline std::vector<ComplexNumber> computed_complex(const Tensor& tensor) {
  std::vector<ComplexNumber> values(static_cast<std::size_t>(tensor.element_count()));
  if (tensor.dtype() == DType::c128) {
    std::memcpy(values.data(), tensor.bytes().data(), tensor.byte_count());
    return values;
  }
  std::vector<std::complex<float>> singles(values.size());
  std::memcpy(singles.data(), tensor.bytes().data(), tensor.byte_count());
  std::copy(singles.begin(), singles.end(), values.begin());
  return values;
}

inline Tensor stored_computed(const Shape& shape, const std::vector<ComplexNumber>& values) {
  Tensor tensor = Tensor::uninitialized(shape);
  if (shape.dtype == DType::c128) {
    std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.byte_count());
    return tensor;
  }
  std::vector<std::complex<float>> singles;
  for (const ComplexNumber& value : values)
    singles.emplace_back(static_cast<float>(value.real()), static_cast<float>(value.imag()));
  std::memcpy(tensor.mutable_bytes().data(), singles.data(), tensor.byte_count());
  return tensor;
}
inline Tensor stored_computed(const Shape& shape, const std::vector<double>& values) {
  return store_floats(shape, values);
}
inline Tensor stored_computed(const Shape& shape, const std::vector<std::uint64_t>& words) {
  return store_words(shape, words);
}
inline Tensor stored_computed(const Shape& shape, const std::vector<std::int64_t>& numbers) {
  return store_words(shape, std::vector<std::uint64_t>(numbers.begin(), numbers.end()));
}

inline std::vector<std::int64_t> computed_signed(const Tensor& tensor) {
  const std::vector<std::uint64_t> words = load_words(tensor);
  return {words.begin(), words.end()};
}

/// `function` of vectors of the tensors' elements, which gives one of the result's: ComplexNumber, double, or words
/// that wrap. For sums and products.
template <typename Function, typename... Tensors>
Tensor computed_in_ring(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_complex(first.dtype()))
    return stored_computed(shape, function(computed_complex(first), computed_complex(others)...));
  if (is_float(first.dtype())) return stored_computed(shape, function(load_floats(first), load_floats(others)...));
  return stored_computed(shape, function(load_words(first), load_words(others)...));
}

/// The same with double, std::int64_t or std::uint64_t (bool too), which have an order.
template <typename Function, typename... Tensors>
Tensor computed_in_order(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_float(first.dtype())) return stored_computed(shape, function(load_floats(first), load_floats(others)...));
  if (is_signed_integer(first.dtype()))
    return stored_computed(shape, function(computed_signed(first), computed_signed(others)...));
  return stored_computed(shape, function(load_words(first), load_words(others)...));
}

}  // namespace alate::graph
