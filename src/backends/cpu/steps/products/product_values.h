// Conversion of products' operands and results to and from the types that product kernels take.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The kernels' enumerator for an activation.
Activation activation_of(graph::Activation activation);

/// The type that products of `dtype` are computed in: f32 for halves, bool (any sum of ands that is not 0) and c64, f64
/// for c128, unsigned integers of at least 16 bits for the others, because integers wrap.
DType product_dtype(DType dtype);
/// Values of product_dtype per element: 2 for complex numbers.
std::size_t product_parts(DType dtype);
/// Bytes of an element in the computed type.
std::size_t product_bytes(DType dtype);

/// Hands out a step's scratch part by part. If `begin` is null, only counts the bytes.
class ScratchParts {
 public:
  explicit ScratchParts(std::byte* begin) : next_(begin) {}
  std::byte* take(std::size_t bytes);
  std::size_t bytes() const { return taken_; }

 private:
  std::byte* next_;
  std::size_t taken_ = 0;
};

/// For each axis of the ordered form, the axis of the value.
using AxisOrder = std::vector<std::size_t>;

/// Converts an operand to the computed type with its axes reordered, dense, in as few copies as possible. The
/// constructor only reserves scratch.
class ProductOperand {
 public:
  ProductOperand(const Shape& shape, const AxisOrder& order, ScratchParts& scratch);
  /// The operand in `order`: the original bytes where nothing has to change.
  const std::byte* load(const Frame& frame, const std::byte* in) const;

 private:
  Shape shape_;
  AxisOrder order_;
  std::byte *unpacked_ = nullptr, *ordered_ = nullptr, *converted_ = nullptr;
};

/// The reverse, for results: computed with the axes in `order`, stored in the value's own order.
class ProductResult {
 public:
  ProductResult(const Shape& shape, const AxisOrder& order, ScratchParts& scratch);
  /// Where to compute, given the result's final location.
  std::byte* target(std::byte* out) const { return computed_ != nullptr ? computed_ : out; }
  void store(const Frame& frame, std::byte* out) const;

 private:
  Shape shape_;
  AxisOrder order_;
  std::byte *computed_ = nullptr, *converted_ = nullptr, *ordered_ = nullptr;
};

}  // namespace alate::cpu
