// Operands and results of products in the types that product kernels take.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The kernels' name of an activation.
Activation activation_of(graph::Activation activation);

/// The type that products of `dtype` are computed in: f32 for halves, bool (any sum of ands that is not 0) and c64, f64
/// for c128, unsigned integers of at least 16 bits for the others, because integers wrap.
DType product_dtype(DType dtype);
/// How many of these an element is: 2 for complex numbers.
std::size_t product_parts(DType dtype);
/// Bytes of an element in the computed type.
std::size_t product_bytes(DType dtype);

/// Parts of a step's scratch, taken one after the other. Without memory, it counts the bytes.
class ScratchParts {
 public:
  explicit ScratchParts(std::byte* begin) : next_(begin) {}
  std::byte* take(std::size_t bytes);
  std::size_t bytes() const { return taken_; }

 private:
  std::byte* next_;
  std::size_t taken_ = 0;
};

/// Which axis of a value each axis of its ordered form is.
using AxisOrder = std::vector<std::size_t>;

/// Brings operands into the computed type with their axes in another order, dense, in as few copies as it takes. The
/// same calls with no frame only count the scratch.
class ProductOperand {
 public:
  ProductOperand(const Shape& shape, const AxisOrder& order, ScratchParts& scratch);
  /// The operand in `order`: its own bytes where nothing had to change.
  const std::byte* load(const Frame& frame, const std::byte* in) const;

 private:
  Shape shape_;
  AxisOrder order_;
  std::byte *unpacked_ = nullptr, *ordered_ = nullptr, *converted_ = nullptr;
};

/// The way back: results are computed with the axes in `order` and stored in their own.
class ProductResult {
 public:
  ProductResult(const Shape& shape, const AxisOrder& order, ScratchParts& scratch);
  /// Where to compute, given where the result belongs.
  std::byte* target(std::byte* out) const { return computed_ != nullptr ? computed_ : out; }
  void store(const Frame& frame, std::byte* out) const;

 private:
  Shape shape_;
  AxisOrder order_;
  std::byte *computed_ = nullptr, *converted_ = nullptr, *ordered_ = nullptr;
};

}  // namespace alate::cpu
