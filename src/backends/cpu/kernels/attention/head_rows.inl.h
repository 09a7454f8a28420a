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

/// Floats from a token's first head to `head`.
inline std::size_t head_offset(std::size_t head, std::size_t stride, std::size_t size) {
  return head * (stride != 0 ? stride : size);
}

/// Keys or values of one head of a task's sequence.
struct HeadRows {
  const KeySource& source;
  const std::int32_t* pages;  // of the sequence; null where its rows lie in order
  std::size_t first;          // number before row 0, or before the cache's first row
  std::size_t size;

  HeadRows(const KeySource& rows, const AttentionTask& task, std::size_t kv_head, std::size_t width)
      : source(rows),
        pages(rows.table != nullptr ? rows.table + task.sequence * rows.most_pages : nullptr),
        first(task.first_key * rows.stride + head_offset(kv_head, rows.head_stride, width)),
        size(width) {}

  /// Rows from `row` on; only of f32 that lie in order.
  const float* floats(std::size_t row) const {
    return static_cast<const float*>(source.base) + first + row * source.stride;
  }

  /// Copies rows contiguously as floats, each zero-padded to `width`.
  void pack(std::size_t row, std::size_t count, std::size_t width, float* HWY_RESTRICT to) const {
    while (count > 0) {
      std::size_t begin = row, run = count;
      if (pages != nullptr) {
        const std::size_t within = row % source.page_rows, left = source.page_rows - within;
        begin = static_cast<std::size_t>(pages[row / source.page_rows]) * source.page_rows + within;
        run = count < left ? count : left;
      }
      const std::size_t offset = first + begin * source.stride;
      if (source.floats == StoredFloats::f32) {
        pack_rows(static_cast<const float*>(source.base) + offset, source.stride, run, size, width, to);
      } else {
        pack_half_rows(static_cast<const std::uint16_t*>(source.base) + offset, source.floats == StoredFloats::f16,
                       source.stride, run, size, width, to);
      }
      row += run;
      count -= run;
      to += run * width;
    }
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
