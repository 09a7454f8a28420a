// Single elements of tensors of any dtype: integers as words, floats as doubles, complex numbers as pairs.
#pragma once

#include <complex>
#include <cstdint>

#include "alate/tensor.h"

namespace alate::conformance {

/// Floats that ops compute with: f16, bf16, f32, f64.
bool is_computed_float(DType dtype);

/// The bits of element `i`, low bits first where several share a byte.
std::uint64_t bits_at(const Tensor& tensor, std::int64_t i);
void set_bits(Tensor& tensor, std::int64_t i, std::uint64_t bits);

/// Of f16, bf16, f32 and f64.
double float_at(const Tensor& tensor, std::int64_t i);
void set_float(Tensor& tensor, std::int64_t i, double value);

std::complex<double> complex_at(const Tensor& tensor, std::int64_t i);
void set_complex(Tensor& tensor, std::int64_t i, std::complex<double> value);

/// Whether the bits of a small float are any of its NaNs.
bool is_small_nan(DType dtype, std::uint64_t bits);

/// The tensor with a zero of the same sign in place of each subnormal f16, bf16, f32, f64 or part of a complex number;
/// the same tensor where it has none.
Tensor flushed(const Tensor& tensor);

/// "1.5", "-7", "(0.5, -inf)": element `i` for people.
std::string print_at(const Tensor& tensor, std::int64_t i);

/// Bits behind the leading one of the significand: 10, 7, 23, 52; of complex dtypes, of their parts.
int fraction_bits(DType dtype);

}  // namespace alate::conformance
