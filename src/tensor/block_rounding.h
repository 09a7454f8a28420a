// Rounding of matrices to ggml's block types of 32.
#pragma once

#include "alate/tensor.h"
#include "tensor/encoding.h"

namespace alate::tensor {

/// q4_0, q4_1, q5_0, q5_1 and q8_0.
bool can_round_to(EncodingKind kind);

/// The blocks u8 [rows, bytes] of an f32 matrix whose columns are a multiple of 32, as ggml's reference implementation
/// rounds: types without a minimum cover the number of the largest magnitude and 0, the others a block's range. Throws
/// invalid_argument for other shapes, and for numbers that are not finite or whose scale is beyond f16.
Tensor round_to_blocks(const Tensor& matrix, EncodingKind kind);

}  // namespace alate::tensor
