// Numbers out of the bytes of ggml's blocks and of nf4; tensor/ggml_blocks.h says what lies where.
#pragma once

#include "exchange/stablehlo/writer.h"
#include "tensor/encoding.h"

namespace alate::exchange {

/// f32 [..., blocks, numbers of a block] from u8 [..., bytes] of whole blocks.
HloValue numbers_of_blocks(HloWriter& w, tensor::EncodingKind kind, const HloValue& bytes);
/// f32 [..., bytes, 2] from u8 [..., bytes]: the table's number of each half, the high one first.
HloValue normal_floats(HloWriter& w, const HloValue& bytes);

}  // namespace alate::exchange
