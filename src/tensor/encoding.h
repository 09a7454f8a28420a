// How quantized numbers are stored, and the numbers that they mean.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate::tensor {

/// linear: integers (of 1 to 32 bits) or small floats, scales, and zero points where there are any:
///   (stored - zero point) · scale. As ONNX's DequantizeLinear.
/// nf4: two 4-bit places of bitsandbytes' NormalFloat table a byte, the first in the high bits, and scales.
/// The others are ggml's block types: the bytes of whole blocks along the last axis, their scales inside.
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
  mxfp4
};
std::string_view to_string(EncodingKind kind);

/// How many numbers some bytes hold: a ggml block; {2, 1} of nf4. Throws internal for linear.
struct BlockSize {
  std::int64_t elements, bytes;
};
BlockSize block_size(EncodingKind kind);

/// Whether `linear` can store elements of this dtype.
bool can_be_linear(DType dtype);

/// `blocks` is for linear and nf4: for each axis of the numbers, how many of them share a scale; 0: all of the axis. So
/// the scales have the numbers' rank, and ceil(extent / block) of them along each axis: [1, 1] for one scale in all
/// ({0, 0}), [out, 1] for one a row ({1, 0}), [out, in / 32] for one for 32 in a row ({1, 32}).
struct Encoding {
  EncodingKind kind = EncodingKind::linear;
  std::vector<std::int64_t> blocks;
};

/// The numbers, as `dtype` (f16, bf16, f32, f64). Every product and difference is an f32, as in the implementations
/// that the encodings come from (f64 where scales are f64), and the result is rounded to dtype at the end. `scales`
/// (f16, bf16, f32 or f64) and `zero_points` (of stored's dtype, in the scales' dims) are empty tensors where there are
/// none. Throws invalid_argument when shapes or dtypes do not fit.
Tensor dequantize(const Encoding& encoding, const Tensor& stored, const Tensor& scales, const Tensor& zero_points,
                  DType dtype);

}  // namespace alate::tensor
