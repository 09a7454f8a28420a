// Elements of any dtype in its compute type: double, std::int64_t, std::uint64_t or std::complex<double>.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "graph/reference/values.h"

namespace alate::graph {

template <typename Number>
std::vector<Number> load_numbers(const Tensor& tensor) {
  if constexpr (std::is_same_v<Number, std::complex<double>>) {
    return load_complex(tensor);
  } else if constexpr (std::is_same_v<Number, double>) {
    return load_floats(tensor);
  } else {
    const std::vector<std::uint64_t> words = load_words(tensor);
    return {words.begin(), words.end()};
  }
}

template <typename Number>
Tensor store_numbers(const Shape& shape, const std::vector<Number>& values) {
  if constexpr (std::is_same_v<Number, std::complex<double>>) {
    return store_complex(shape, values);
  } else if constexpr (std::is_same_v<Number, double>) {
    return store_floats(shape, values);
  } else {
    return store_words(shape, std::vector<std::uint64_t>(values.begin(), values.end()));
  }
}

/// Calls `visit`, a lambda with one template parameter, with the compute type of `dtype`.
template <typename Visit>
auto with_number_type(DType dtype, Visit visit) {
  if (is_complex(dtype)) return visit.template operator()<std::complex<double>>();
  if (is_float(dtype)) return visit.template operator()<double>();
  if (is_signed_integer(dtype)) return visit.template operator()<std::int64_t>();
  return visit.template operator()<std::uint64_t>();
}

/// Sum and product that wrap.
template <typename Number>
Number wrapped_sum(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename Number>
Number wrapped_product(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else if constexpr (std::is_same_v<Number, std::complex<double>>) {
    // As four products: operator* has special cases for infinities, which XLA and numpy have not.
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

}  // namespace alate::graph
