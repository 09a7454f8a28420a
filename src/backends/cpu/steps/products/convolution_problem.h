// A convolution as matrix products: which of several ways its shapes and layouts ask for, and the memory it takes.
#pragma once

#include <optional>

#include "backends/cpu/kernels/windows/patches.h"
#include "backends/cpu/steps/products/product_values.h"
#include "graph/attributes.h"

namespace alate::cpu {

enum class ConvolutionForm : std::uint8_t {
  depthwise,  // a kernel for every channel, summed in place
  turned,     // the result [features, places] is the kernel times x [channels, places] as it lies
  pointwise,  // a row of x is what a window sees
  lines,      // rows that windows see overlap in x, and are multiplied where they lie
  patches,    // rows are copied out first
};

struct ConvolutionProblem {
  /// Without memory, only counts the scratch.
  ConvolutionProblem(const Step& step, const Shape& x_shape, const Shape& kernel_shape, const Shape& out,
                     std::byte* memory);

  graph::Convolution conv;  // with the spatial axes in the result's order
  DType dtype;
  PatchGeometry geometry;
  std::size_t groups, batch, features;  // batch: of the result
  std::size_t m, n, k;                  // of a group's product, in parts of numbers
  ConvolutionForm form;
  std::size_t rows_at_once = 0;                          // patches: rows that are copied and multiplied at a time
  std::size_t turned_block = 0, packed_block_bytes = 0;  // turned: places that are packed at a time
  ScratchParts scratch;
  ProductOperand x;
  ProductResult result;
  std::optional<ProductOperand> kernel;  // unless it is packed already
  std::byte *expanded = nullptr, *packed = nullptr, *patches = nullptr, *padded = nullptr;
  std::ptrdiff_t *line_offsets = nullptr, *segment_offsets = nullptr;

 private:
  void take_lines();
};

/// A kernel for every channel of its own, small enough for the loop that sums in place.
bool is_depthwise(const graph::Convolution& conv, const Shape& x, const Shape& kernel);

/// Layouts in which the channels of a batch entry come before its places.
bool has_channels_first(const graph::Convolution& conv, const Shape& shape);

}  // namespace alate::cpu
