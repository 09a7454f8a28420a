#include "tensor/packed.h"

#include <algorithm>

#include "tensor/element.h"

namespace alate::tensor {

bool is_packed(DType dtype) { return bits_of(dtype) > 0 && bits_of(dtype) < 8; }

DType carrier_of(DType dtype) {
  if (!is_packed(dtype)) return dtype;
  return is_signed_integer(dtype) ? DType::i8 : DType::u8;
}

void unpack(DType dtype, std::span<const std::byte> packed, std::span<std::byte> out) {
  const std::size_t bits = bits_of(dtype), per_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1, sign = is_signed_integer(dtype) ? 1U << (bits - 1) : 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const unsigned element = (std::to_integer<unsigned>(packed[i / per_byte]) >> (i % per_byte * bits)) & mask;
    out[i] = static_cast<std::byte>((element ^ sign) - sign);
  }
}

void pack(DType dtype, std::span<const std::byte> elements, std::span<std::byte> out) {
  const std::size_t bits = bits_of(dtype), per_byte = 8 / bits;
  const std::byte mask{static_cast<std::uint8_t>((1U << bits) - 1)};
  std::ranges::fill(out, std::byte{0});
  for (std::size_t i = 0; i < elements.size(); ++i) out[i / per_byte] |= (elements[i] & mask) << (i % per_byte * bits);
}

Tensor unpacked(const Tensor& tensor) {
  if (!is_packed(tensor.dtype())) return tensor;
  Tensor carriers = Tensor::uninitialized({carrier_of(tensor.dtype()), tensor.shape().dims});
  unpack(tensor.dtype(), tensor.bytes(), carriers.mutable_bytes());
  return carriers;
}

Tensor packed(const Tensor& carriers, DType dtype) {
  if (!is_packed(dtype)) return carriers;
  Tensor tensor = Tensor::uninitialized({dtype, carriers.shape().dims});
  pack(dtype, carriers.bytes(), tensor.mutable_bytes());
  return tensor;
}

Tensor scalar_of(DType dtype, double value) {
  if (is_complex(dtype)) {
    Tensor tensor = Tensor::zeros({dtype, {}});
    store_double(dtype == DType::c64 ? DType::f32 : DType::f64, value, tensor.mutable_bytes().data());
    return tensor;
  }
  Tensor carrier = Tensor::uninitialized({carrier_of(dtype), {}});
  store_double(dtype, value, carrier.mutable_bytes().data());
  return packed(carrier, dtype);
}

}  // namespace alate::tensor
