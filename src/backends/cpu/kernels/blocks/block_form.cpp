#include "backends/cpu/kernels/blocks/block_form.h"

namespace alate::cpu {

std::optional<BlockForm> block_form(tensor::EncodingKind kind) {
  using tensor::EncodingKind;
  switch (kind) {
    case EncodingKind::q4_0: return BlockForm{.bits = 4, .zero = 8};
    case EncodingKind::q4_1: return BlockForm{.bits = 4, .has_minimum = true};
    case EncodingKind::q5_0: return BlockForm{.bits = 5, .zero = 16};
    case EncodingKind::q5_1: return BlockForm{.bits = 5, .has_minimum = true};
    case EncodingKind::q8_0: return BlockForm{.bits = 8, .zero = 128};
    case EncodingKind::q2_k: return BlockForm{.bits = 2, .group = 16, .has_minimum = true, .has_run_scale = true};
    case EncodingKind::q3_k: return BlockForm{.bits = 3, .group = 16, .zero = 4, .has_run_scale = true};
    case EncodingKind::q4_k: return BlockForm{.bits = 4, .has_minimum = true, .has_run_scale = true};
    case EncodingKind::q5_k: return BlockForm{.bits = 5, .has_minimum = true, .has_run_scale = true};
    case EncodingKind::q6_k: return BlockForm{.bits = 6, .group = 16, .zero = 32, .has_run_scale = true};
    case EncodingKind::iq4_nl: return BlockForm{.bits = 4, .zero = 128, .is_looked_up = true};
    case EncodingKind::iq4_xs: return BlockForm{.bits = 4, .zero = 128, .has_run_scale = true, .is_looked_up = true};
    // One scale for 256, which each part repeats.
    case EncodingKind::tq1_0:
    case EncodingKind::tq2_0: return BlockForm{.bits = 2, .zero = 1};
    case EncodingKind::linear:
    case EncodingKind::nf4:
    case EncodingKind::mxfp4: break;
  }
  return std::nullopt;
}

}  // namespace alate::cpu
