// Encodings of quantized tensors, and their dequantization.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::tensor {

/// linear: integers (of 1 to 32 bits) or small floats, with scales and optional zero points:
///   (stored - zero point) · scale. As ONNX's DequantizeLinear.
/// nf4: two 4-bit indices into bitsandbytes' NormalFloat table per byte, the first in the high bits, and scales. The
/// others are ggml's block types: the bytes of whole blocks along the last axis, which include their scales.
enum class EncodingKind : std::uint8_t {
  linear,
  nf4,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  tq1_0,
  tq2_0
};
inline constexpr EncodingKind kLastEncoding = EncodingKind::tq2_0;
std::string_view to_string(EncodingKind kind);

/// Elements and bytes of a block: of a ggml block, or {2, 1} for nf4. Throws internal for linear.
struct BlockSize {
  std::int64_t elements, bytes;
};
BlockSize block_size(EncodingKind kind);

/// Whether `linear` can store elements of this dtype.
bool can_be_linear(DType dtype);

/// `blocks` is for linear and nf4: for each axis, the number of elements that share a scale; 0: the whole axis. The
/// scales have the tensor's rank, and ceil(extent / block) entries along each axis: [1, 1] for per-tensor scales ({0,
/// 0}), [out, 1] for per-row scales ({1, 0}), [out, in / 32] for groups of 32 in a row ({1, 32}).
struct Encoding {
  EncodingKind kind = EncodingKind::linear;
  std::vector<std::int64_t> blocks;
};

/// The dequantized tensor, as `dtype` (f16, bf16, f32, f64). Every product and difference is computed in f32, as in the
/// encodings' original implementations (in f64 if scales are f64), and the result is rounded to dtype at the end.
/// `scales` (f16, bf16, f32 or f64) and `zero_points` (stored's dtype, the scales' dims) are empty tensors if absent.
/// Throws invalid_argument when shapes or dtypes do not match.
Tensor dequantize(const Encoding& encoding, const Tensor& stored, const Tensor& scales, const Tensor& zero_points,
                  DType dtype);

}  // namespace alate::tensor
