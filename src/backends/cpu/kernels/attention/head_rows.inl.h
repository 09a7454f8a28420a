// Keys and values of one head of a sequence, as rows in order or in the pages of a cache, for one instruction set.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

/// Copies `count` rows contiguously, each zero-padded to `width`.
inline void pack_rows(const float* HWY_RESTRICT from, std::size_t stride, std::size_t count, std::size_t size,
                      std::size_t width, float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = size / lanes * lanes;
  for (std::size_t row = 0; row < count; ++row, to += width) {
    const float* source = from + row * stride;
    for (std::size_t i = 0; i < whole; i += lanes) hn::StoreU(hn::LoadU(d, source + i), d, to + i);
    if (whole < size) store_first(load_first(d, source + whole, size - whole), d, to + whole, size - whole);
    for (std::size_t i = size; i < width; ++i) to[i] = 0;
  }
}

/// `count` halves, at most a whole vector, as floats.
HWY_INLINE FloatVector load_halves(const std::uint16_t* HWY_RESTRICT from, std::size_t count, bool is_f16) {
  const FloatTag d;
  const hn::Rebind<std::uint16_t, FloatTag> half;
  const auto bits = count >= hn::Lanes(half) ? hn::LoadU(half, from) : load_first(half, from, count);
  if (is_f16) return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, FloatTag>(), bits));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<FloatTag>(), bits)));
}

/// pack_rows of f16 or bf16.
inline void pack_half_rows(const std::uint16_t* HWY_RESTRICT from, bool is_f16, std::size_t stride, std::size_t count,
                           std::size_t size, std::size_t width, float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), whole = size / lanes * lanes;
  for (std::size_t row = 0; row < count; ++row, to += width) {
    const std::uint16_t* source = from + row * stride;
    for (std::size_t i = 0; i < whole; i += lanes) hn::StoreU(load_halves(source + i, lanes, is_f16), d, to + i);
    if (whole < size) store_first(load_halves(source + whole, size - whole, is_f16), d, to + whole, size - whole);
    for (std::size_t i = size; i < width; ++i) to[i] = 0;
  }
}

/// `count` bytes, at most a whole vector, as floats.
HWY_INLINE FloatVector load_bytes(const std::int8_t* HWY_RESTRICT from, std::size_t count) {
  const hn::Rebind<std::int8_t, FloatTag> byte;
  const auto numbers = count >= hn::Lanes(byte) ? hn::LoadU(byte, from) : load_first(byte, from, count);
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(hn::RebindToSigned<FloatTag>(), numbers));
}

/// One row of pack_rows, of integers times a scale.
inline void pack_byte_row(const std::int8_t* HWY_RESTRICT from, float scale, std::size_t size, std::size_t width,
                          float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), whole = size / lanes * lanes;
  const FloatVector scales = hn::Set(d, scale);
  for (std::size_t i = 0; i < whole; i += lanes) hn::StoreU(hn::Mul(load_bytes(from + i, lanes), scales), d, to + i);
  if (whole < size) store_first(hn::Mul(load_bytes(from + whole, size - whole), scales), d, to + whole, size - whole);
  for (std::size_t i = size; i < width; ++i) to[i] = 0;
}

/// Numbers from a token's first head to `head`.
inline std::size_t head_offset(std::size_t head, std::size_t stride, std::size_t size) {
  return head * (stride != 0 ? stride : size);
}

/// Keys or values of one head of a task's sequence.
struct HeadRows {
  const KeySource& source;
  const std::int32_t* pages;  // of the sequence; null where its rows lie in order
  std::size_t first;          // number before row 0, or before the cache's first row
  std::size_t size;
  std::size_t head;

  HeadRows(const KeySource& rows, const AttentionTask& task, std::size_t kv_head, std::size_t width)
      : source(rows),
        pages(rows.table != nullptr ? rows.table + task.sequence * rows.most_pages : nullptr),
        first(task.first_key * rows.stride + head_offset(kv_head, rows.head_stride, width)),
        size(width),
        head(kv_head) {}

  /// Rows from `row` on; only of f32 that lie in order.
  const float* floats(std::size_t row) const {
    return static_cast<const float*>(source.base) + first + row * source.stride;
  }

  /// The scale of row `row` of the source, where its numbers are integers.
  const float* scales_of(std::size_t row) const {
    return source.scales == nullptr ? nullptr : source.scales + row * source.scale_stride + head;
  }

  /// Calls visit(first row in the source, count) for rows that lie in order there.
  template <typename Visit>
  HWY_INLINE void visit_runs(std::size_t row, std::size_t count, const Visit& visit) const {
    while (count > 0) {
      std::size_t begin = row, run = count;
      if (pages != nullptr) {
        const std::size_t within = row % source.page_rows, left = source.page_rows - within;
        begin = static_cast<std::size_t>(pages[row / source.page_rows]) * source.page_rows + within;
        run = count < left ? count : left;
      }
      visit(begin, run);
      row += run;
      count -= run;
    }
  }

  /// Copies rows contiguously as floats, each zero-padded to `width`.
  void pack(std::size_t row, std::size_t count, std::size_t width, float* HWY_RESTRICT to) const {
    visit_runs(row, count, [&](std::size_t begin, std::size_t run) HWY_ATTR {
      const std::size_t offset = first + begin * source.stride;
      if (source.numbers == StoredNumbers::f32) {
        pack_rows(static_cast<const float*>(source.base) + offset, source.stride, run, size, width, to);
      } else if (source.numbers == StoredNumbers::i8) {
        for (std::size_t i = 0; i < run; ++i)
          pack_byte_row(static_cast<const std::int8_t*>(source.base) + offset + i * source.stride,
                        *scales_of(begin + i), size, width, to + i * width);
      } else {
        pack_half_rows(static_cast<const std::uint16_t*>(source.base) + offset, source.numbers == StoredNumbers::f16,
                       source.stride, run, size, width, to);
      }
      to += run * width;
    });
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
