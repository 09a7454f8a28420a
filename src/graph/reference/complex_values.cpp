#include "graph/reference/complex_values.h"

#include <cstring>

#include "tensor/element.h"

namespace alate::graph {
namespace {

DType part_of(const Shape& shape) { return shape.dtype == DType::c64 ? DType::f32 : DType::f64; }

}  // namespace

std::vector<std::complex<double>> load_complex(const Tensor& tensor) {
  const DType part = part_of(tensor.shape());
  const std::size_t size = bits_of(part) / 8;
  std::vector<std::complex<double>> values(static_cast<std::size_t>(tensor.element_count()));
  const std::byte* from = tensor.bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i, from += 2 * size)
    values[i] = {tensor::load_double(part, from), tensor::load_double(part, from + size)};
  return values;
}

Tensor store_complex(const Shape& shape, const std::vector<std::complex<double>>& values) {
  const DType part = part_of(shape);
  const std::size_t size = bits_of(part) / 8;
  Tensor tensor = Tensor::uninitialized(shape);
  std::byte* to = tensor.mutable_bytes().data();
  for (const std::complex<double>& value : values) {
    tensor::store_double(part, value.real(), to);
    tensor::store_double(part, value.imag(), to + size);
    to += 2 * size;
  }
  return tensor;
}

}  // namespace alate::graph
