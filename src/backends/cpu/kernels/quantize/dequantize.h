// Dequantization of rows, part by part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/tensor.h"
#include "tensor/encoding.h"

namespace alate::cpu {

constexpr std::size_t kMostScaledAxes = 16;

/// One axis: its extent, the block of elements along it that share a scale, and the number of scales.
struct ScaledAxis {
  std::size_t extent = 1, block = 1, scales = 1;
};

/// A tensor's numbers as rows along its last axis. Stored values, scales and zero points are as for tensor::dequantize;
/// the latter two may be null.
struct QuantizedRows {
  tensor::EncodingKind kind = tensor::EncodingKind::linear;
  DType stored_dtype = DType::u8, scale_dtype = DType::f32;
  const std::byte *stored = nullptr, *scales = nullptr, *zero_points = nullptr;
  std::size_t rows = 1;
  std::size_t rank = 0;  // of `axes`
  ScaledAxis axes[kMostScaledAxes];
  ScaledAxis row;  // along the row: its extent is the row's width
};

/// `blocks` is tensor::Encoding's; `stored` has kMostScaledAxes axes at most.
QuantizedRows quantized_rows(tensor::EncodingKind kind, std::span<const std::int64_t> blocks, const Shape& stored);

/// Prefetches a row that will be needed soon, where rows are stored in their order.
void fetch_row(const QuantizedRows& rows, std::size_t row);

/// Parts of rows begin at multiples of this.
constexpr std::size_t kQuantizedRun = 256;

/// Writes numbers [begin, end) of a row to `out` as `dtype` (f16, bf16, f32 or f64); bit-identical to
/// tensor::dequantize.
void dequantize_part(const QuantizedRows& rows, std::size_t row, std::size_t begin, std::size_t end, DType dtype,
                     std::byte* out);

}  // namespace alate::cpu
