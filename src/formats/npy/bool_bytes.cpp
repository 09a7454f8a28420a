#include "formats/npy/bool_bytes.h"

#include <algorithm>

namespace alate::formats {

Tensor with_proper_bools(Tensor tensor) {
  if (tensor.dtype() != DType::boolean) return tensor;
  if (std::ranges::all_of(tensor.bytes(), [](std::byte byte) { return byte <= std::byte{1}; })) return tensor;
  Tensor copy = Tensor::uninitialized(tensor.shape());
  std::ranges::transform(tensor.bytes(), copy.mutable_bytes().begin(),
                         [](std::byte byte) { return byte == std::byte{0} ? byte : std::byte{1}; });
  return copy;
}

}  // namespace alate::formats
