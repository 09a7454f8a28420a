// Elements in the types that reference functions compute in: doubles for floats, 64-bit words for integers and bools,
// pairs of doubles for complex numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

/// Every element of a float tensor, exactly.
std::vector<double> load_floats(const Tensor& tensor);
/// A float tensor with each value rounded once to its dtype.
Tensor store_floats(const Shape& shape, std::span<const double> values);

/// Every element of an integer or bool tensor: signed ones extended to 64 bits in two's complement, bool as 0 or 1.
std::vector<std::uint64_t> load_words(const Tensor& tensor);
/// An integer tensor of the words' low bits, which is how integers wrap; for bool, whether the word is not 0.
Tensor store_words(const Shape& shape, std::span<const std::uint64_t> words);

using Complex = std::complex<double>;

/// Every element of a complex tensor, exactly.
std::vector<Complex> load_complex(const Tensor& tensor);
/// A complex tensor with each part rounded once.
Tensor store_complex(const Shape& shape, std::span<const Complex> values);

/// Integers as signed numbers; unsigned ones above the largest signed 64-bit number saturate to it.
std::vector<std::int64_t> load_indices(const Tensor& tensor);

}  // namespace alate::graph
