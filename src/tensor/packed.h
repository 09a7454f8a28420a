// Sub-byte elements: packed, low bits first, as in tensors, and unpacked, one per byte, as code handles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// Whether a byte holds several elements of this dtype.
bool is_packed(DType dtype);
/// The dtype of whole bytes that holds one element of `dtype`: i8 for signed integers, u8 for unsigned ones and for
/// f4e2m1fn's patterns; any other dtype is its own carrier.
DType carrier_of(DType dtype);

/// Unpacks to one element per byte; signed ones are sign-extended. `out` has a byte for each element.
void unpack(DType dtype, std::span<const std::byte> packed, std::span<std::byte> out);
/// Packs the low bits of each byte; unused bits of `out` are 0.
void pack(DType dtype, std::span<const std::byte> elements, std::span<std::byte> out);

/// A tensor of the carrier dtype with the same dims; the tensor itself when it is not packed.
Tensor unpacked(const Tensor& tensor);
/// The inverse: a tensor of `dtype` from one of its carrier dtype.
Tensor packed(const Tensor& carriers, DType dtype);

/// A scalar of any dtype: rounded as store_double does; the real part of a complex one.
Tensor scalar_of(DType dtype, double value);

}  // namespace alate::tensor
