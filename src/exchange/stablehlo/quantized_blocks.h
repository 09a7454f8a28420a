// Dequantization of ggml's blocks and of nf4; tensor/ggml_blocks.h has the layouts.
#pragma once

#include "exchange/stablehlo/writer.h"
#include "tensor/encoding.h"

namespace alate::exchange {

/// f32 [..., blocks, values per block] from u8 [..., bytes] of whole blocks.
HloValue numbers_of_blocks(HloWriter& w, tensor::EncodingKind kind, const HloValue& bytes);
/// f32 [..., bytes, 2] from u8 [..., bytes]: the table entry of each nibble, the high one first.
HloValue normal_floats(HloWriter& w, const HloValue& bytes);

}  // namespace alate::exchange
