// Rows quantized to 8 bits, as integer products read them from a slot or from scratch: the words of a row, then the
// scales and offsets of its groups.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"

namespace alate::cpu {

/// The layout of a row of `width` numbers in `groups` groups of equal size: [words | a scale per group | an offset per
/// group], 4 bytes each.
struct IntegerRows {
  std::size_t width, groups;

  std::size_t words() const { return quantized_row_words(width, groups, kernels().integers.kind); }
  std::size_t stride() const { return words() + 2 * groups; }
  std::size_t bytes() const { return stride() * sizeof(float); }
};

/// The destination of quantize_rows for such rows, the first of them at `memory`. The caller sets the source.
inline QuantizeArguments integers_in(const IntegerRows& rows, std::byte* memory) {
  QuantizeArguments integers;
  integers.words = memory;
  integers.words_stride = integers.scales_stride = rows.stride();
  integers.scales = reinterpret_cast<float*>(memory) + rows.words();
  integers.offsets = integers.scales + rows.groups;
  integers.width = rows.width;
  integers.groups = rows.groups;
  integers.kind = kernels().integers.kind;
  return integers;
}

}  // namespace alate::cpu
