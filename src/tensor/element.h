// One element at a time, whatever its dtype: for reference code and small values, not for kernels.
#pragma once

#include <cstddef>

#include "alate/tensor.h"

namespace alate::tensor {

/// The element at `from` as a double (bool as 0 or 1). Integers beyond 2^53 are rounded. An element of less than a byte
/// is in a byte of its own, as tensor/packed.h has it. Throws unsupported for complex numbers and types without bits.
double load_double(DType dtype, const std::byte* from);
/// Stores `value` rounded to the dtype: floats to nearest even; integers truncate and saturate, NaN to 0; bool is
/// whether it differs from 0.
void store_double(DType dtype, double value, std::byte* to);
/// `count` elements of one integer dtype in another, the low bits kept.
void convert_integers(DType from, const std::byte* in, DType to, std::byte* out, std::size_t count);

}  // namespace alate::tensor
