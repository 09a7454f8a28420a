// How a weight of ggml's block types is stored for products with it.
//
// Each of these types is integers u of a few bits, cut into groups along a row: a weight is scale · (u - zero) -
// minimum. W [n, k] is packed into panels of 16 columns of Wᵀ (rows of W), and a panel into runs of up to 256 k. A run
// begins with the integers, 32 k of all columns at a time, as bytes at [word][column][place] whose bits lie in planes
// of 64 bytes: first four with the low four bits of words 0 to 3 and, in their high halves, of words 4 to 7; then two
// with two bits of four words each; then one with one bit of each word. Integers of 8 bits are whole bytes, those of 2
// and 3 have no planes of four bits. Scales and minima follow: f16 for each 32 k, or f16 for the run and signed bytes
// for each group, which multiply them. So a packed weight has the size of the file's, but for the padding of the last
// panel and at most 2 % for some types, and the layout is the same for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/encoding.h"

namespace alate::cpu {

/// Columns of a panel, and the k of a run and of a part of its integers.
constexpr std::size_t kBlockPanel = 16, kBlockRun = 256, kBlockPart = 32;
/// Words of four k in a part.
constexpr std::size_t kPartWords = kBlockPart / 4;

struct BlockForm {
  std::size_t bits = 4;        // of an integer: 2 to 6, or 8
  std::size_t group = 32;      // k that share a scale: 32, or 16
  std::size_t zero = 0;        // a power of two, or 0
  bool has_minimum = false;    // then zero is 0
  bool has_run_scale = false;  // scales are bytes times an f16 of the run, whose k are then always 256
  bool is_looked_up = false;   // u is not the stored integer but 128 more than its entry in tensor::kNonlinear4

  constexpr std::size_t part_bytes() const { return bits * kBlockPanel * kBlockPart / 8; }
  /// Of the scales and minima of a run of `parts` parts.
  constexpr std::size_t scale_bytes(std::size_t parts) const {
    const std::size_t sets = has_minimum ? 2 : 1;
    const std::size_t bytes =
        has_run_scale ? sets * kBlockPanel * (2 + parts * (kBlockPart / group)) : sets * kBlockPanel * 2 * parts;
    return (bytes + 63) / 64 * 64;
  }
  constexpr std::size_t run_bytes(std::size_t parts) const { return parts * part_bytes() + scale_bytes(parts); }
  /// Of a panel of k, a multiple of kBlockPart.
  constexpr std::size_t panel_bytes(std::size_t k) const {
    constexpr std::size_t kParts = kBlockRun / kBlockPart;
    const std::size_t parts = k / kBlockPart, last = parts % kParts;
    return parts / kParts * run_bytes(kParts) + (last == 0 ? 0 : run_bytes(last));
  }
};

/// None for encodings that products do not read. The kernels are instantiated for each form that this gives.
constexpr std::optional<BlockForm> block_form(tensor::EncodingKind kind) {
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
