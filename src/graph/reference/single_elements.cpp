#include "graph/reference/single_elements.h"

#include <cstring>

namespace alate::graph {

void copy_element(Tensor& to, std::int64_t to_place, const Tensor& from, std::int64_t from_place) {
  const std::size_t bits = bits_of(from.dtype());
  const auto to_bit = static_cast<std::size_t>(to_place) * bits, from_bit = static_cast<std::size_t>(from_place) * bits;
  std::byte* const target = to.mutable_bytes().data() + to_bit / 8;
  const std::byte* const source = from.bytes().data() + from_bit / 8;
  if (bits >= 8) {
    std::memcpy(target, source, bits / 8);
    return;
  }
  // Packed low bits first; no element straddles bytes.
  const unsigned mask = (1U << bits) - 1;
  const unsigned value = std::to_integer<unsigned>(*source) >> (from_bit % 8) & mask;
  const unsigned others = std::to_integer<unsigned>(*target) & ~(mask << (to_bit % 8));
  *target = static_cast<std::byte>(others | value << (to_bit % 8));
}

Tensor element_of(const Tensor& tensor, std::int64_t place) {
  Tensor scalar = Tensor::zeros({tensor.dtype(), {}});
  copy_element(scalar, 0, tensor, place);
  return scalar;
}

}  // namespace alate::graph
