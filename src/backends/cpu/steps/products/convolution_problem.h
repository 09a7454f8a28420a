// A convolution as matrix products: which of several algorithms its shapes and layouts call for, and its scratch.
#pragma once

#include <optional>

#include "backends/cpu/kernels/windows/patches.h"
#include "backends/cpu/steps/products/product_values.h"
#include "graph/attributes.h"

namespace alate::cpu {

enum class ConvolutionForm : std::uint8_t {
  depthwise,  // one kernel per channel, summed in place
  turned,     // the result [features, places] is the kernel times x [channels, places], without copies
  pointwise,  // 1x1 windows: each sees one row of x
  lines,      // windows are overlapping rows of x, multiplied in place
  patches,    // im2col: windows are copied out as rows first
};

struct ConvolutionProblem {
  /// If memory is null, only counts the scratch.
  ConvolutionProblem(const Step& step, const Shape& x_shape, const Shape& kernel_shape, const Shape& out,
                     std::byte* memory);

  graph::Convolution conv;  // spatial axes in the result's order
  DType dtype;
  PatchGeometry geometry;
  std::size_t groups, batch, features;  // batch: of the result
  std::size_t m, n, k;                  // of one group's product; complex numbers count as two
  ConvolutionForm form;
  std::size_t rows_at_once = 0;                          // patches: rows copied and multiplied at a time
  std::size_t turned_block = 0, packed_block_bytes = 0;  // turned: places packed at a time
  ScratchParts scratch;
  ProductOperand x;
  ProductResult result;
  std::optional<ProductOperand> kernel;  // unless it is packed already
  std::byte *expanded = nullptr, *packed = nullptr, *patches = nullptr, *padded = nullptr;
  std::ptrdiff_t *line_offsets = nullptr, *segment_offsets = nullptr;

 private:
  void take_lines();
};

/// Whether each channel has its own kernel, small enough for the loop that sums in place.
bool is_depthwise(const graph::Convolution& conv, const Shape& x, const Shape& kernel);

/// Whether the layout has channels before the spatial axes (NCHW).
bool has_channels_first(const graph::Convolution& conv, const Shape& shape);

}  // namespace alate::cpu
