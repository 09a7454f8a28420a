// Access to single elements of any dtype, for reference code and small values, not for kernels.
#pragma once

#include <cstddef>

#include "alate/tensor.h"

namespace alate::tensor {

/// The element at `from` as a double (bool as 0 or 1). Integers beyond 2^53 are rounded. A sub-byte element occupies a
/// whole byte, as in tensor/packed.h. Throws unsupported for complex numbers and types without bits.
double load_double(DType dtype, const std::byte* from);
/// Stores `value` rounded to the dtype: floats round to nearest even; integers truncate and saturate, NaN becomes 0;
/// bool is `value` != 0.
void store_double(DType dtype, double value, std::byte* to);
/// Converts `count` elements of one integer dtype to another, keeping the low bits.
void convert_integers(DType from, const std::byte* in, DType to, std::byte* out, std::size_t count);

}  // namespace alate::tensor
