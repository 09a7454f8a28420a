#include "tensor/rotation.h"

namespace alate::tensor {

Tensor rotated_rows(const Tensor& matrix, std::size_t length, float factor) {
  const std::span<const float> from = matrix.values<float>();
  Tensor rotated = Tensor::from<float>({matrix.extent(0), matrix.extent(1)}, from);
  const std::span<float> values = rotated.mutable_values<float>();
  rotate(values, length);
  for (float& value : values) value *= factor;
  return rotated;
}

}  // namespace alate::tensor
