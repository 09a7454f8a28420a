#include "backends/cpu/plan/slot_format.h"

#include "backends/cpu/plan/integer_rows.h"

namespace alate::cpu {
namespace {

// What the numbers along the last axis become.
IntegerRows integer_rows(const Shape& shape, const RowQuantization& quantization) {
  return {static_cast<std::size_t>(shape.dims.back().number()), quantization.groups};
}

std::size_t extents_from(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= static_cast<std::size_t>(shape.dims[i].number());
  return product;
}

}  // namespace

std::size_t SlotFormat::row_elements(const Shape& shape) const {
  return row_stride != 0 ? static_cast<std::size_t>(row_stride) : extents_from(shape, 1, shape.rank());
}

std::size_t SlotFormat::row_bytes(const Shape& shape) const {
  if (kind == kQuantizedRows)
    return extents_from(shape, 1, shape.rank() - 1) * integer_rows(shape, quantization).bytes();
  return bytes_for(kind == kBf16Rows ? DType::bf16 : shape.dtype, static_cast<std::int64_t>(row_elements(shape)));
}

std::size_t SlotFormat::bytes(const Shape& shape) const {
  if (kind != kBf16Rows && kind != kQuantizedRows) return shape.byte_count();
  Shape stored = shape;  // whose byte_count also checks for overflow
  stored.dtype = kind == kBf16Rows ? DType::bf16 : DType::u32;
  if (kind == kQuantizedRows)
    stored.dims.back() = Dim(static_cast<std::int64_t>(integer_rows(shape, quantization).stride()));
  return stored.byte_count();
}

}  // namespace alate::cpu
