// How a slot's numbers lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "alate/tensor.h"

namespace alate::cpu {

using SlotId = std::uint32_t;

/// One kind of format; sets of them are bits.
enum Format : std::uint32_t {
  kRowMajor = 1,
  kStridedRows = 2,    // rows apart: entry i of the first axis begins i * row_stride elements after the start
  kColumnBlocks = 4,   // of a matrix, each with all rows: [column / block][row][column % block]
  kBf16Rows = 8,       // an f32 value rounded to bf16, row-major
  kQuantizedRows = 16  // an f32 value as 8-bit integers with scales and offsets of groups: integer_rows.h
};
using FormatSet = std::uint32_t;

/// What is done to rows before they are quantized, and in how many groups they are then. See QuantizeArguments.
struct RowQuantization {
  std::size_t groups = 1;                // per row
  std::optional<SlotId> smoothing = {};  // a constant
  std::size_t rotation = 0;

  bool operator==(const RowQuantization&) const = default;
};

/// The shape of a slot says what the value is; its format says how it is stored.
struct SlotFormat {
  Format kind = kRowMajor;
  std::int64_t row_stride = 0;        // strided rows; in column blocks, the columns of a block
  RowQuantization quantization = {};  // of quantized rows

  static SlotFormat strided_rows(std::int64_t row_stride) { return {.kind = kStridedRows, .row_stride = row_stride}; }
  static SlotFormat column_blocks(std::int64_t columns) { return {.kind = kColumnBlocks, .row_stride = columns}; }
  static SlotFormat bf16_rows() { return {.kind = kBf16Rows}; }
  static SlotFormat quantized_rows(RowQuantization quantization) {
    return {.kind = kQuantizedRows, .quantization = quantization};
  }

  bool is_row_major() const { return kind == kRowMajor; }
  /// Columns of a block; 0 for other formats.
  std::int64_t column_block() const { return kind == kColumnBlocks ? row_stride : 0; }
  /// From one entry of the first axis to the next, in a column block where there are any. `shape` is bound.
  std::size_t row_elements(const Shape& shape) const;  // of formats that store elements
  std::size_t row_bytes(const Shape& shape) const;
  /// Bytes of a value that is no view.
  std::size_t bytes(const Shape& shape) const;

  bool operator==(const SlotFormat&) const = default;
};

}  // namespace alate::cpu
