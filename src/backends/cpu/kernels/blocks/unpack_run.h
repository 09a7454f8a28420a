// The integers, scales and minima of up to 256 k of one row, read from ggml blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/blocks/block_form.h"

namespace alate::cpu {

/// Scales are f16, of each 32 k, or (BlockForm::has_run_scale) of the run, times the bytes of each group.
struct UnpackedRun {
  std::array<std::uint8_t, kBlockRun> integers;
  std::array<std::uint16_t, kBlockRun / kBlockPart> scales, minima;
  std::array<std::int8_t, kBlockRun / 16> group_scales, group_minima;
};

/// What is filled in. Types of 256 fill in all.
enum class Unpacked : std::uint8_t { all, scales };

/// `blocks` are those of `parts` · 32 k, whole blocks.
void unpack_run(tensor::EncodingKind kind, const std::uint8_t* blocks, std::size_t parts, Unpacked wanted,
                UnpackedRun& run);

}  // namespace alate::cpu
