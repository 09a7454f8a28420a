// Half-precision values (f16, bf16), which are computed as f32.
#pragma once

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/layout.h"

namespace alate::cpu {

inline bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
inline DType computed_type(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }

inline std::size_t widened_bytes(std::size_t count) { return scratch_aligned(count * sizeof(float)); }

inline void convert_values(const Frame& frame, DType from, const void* in, DType to, void* out, std::size_t count) {
  const TileKernel kernel = tile_conversion(from, to);
  split_rows(count, 2, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
    const void* operand = static_cast<const std::byte*>(in) + begin * bytes_for(from, 1);
    kernel(&operand, static_cast<std::byte*>(out) + begin * bytes_for(to, 1), end - begin);
  });
}

}  // namespace alate::cpu
