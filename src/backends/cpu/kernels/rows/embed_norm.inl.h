// The row loop of embed_norm.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/embed_norm.h"
#include "backends/cpu/kernels/rows/normalize.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

// Rows of each type: vector(i, load) returns the numbers from i on as f32, loaded by load(tag, pointer).
struct FloatRow {
  const float* at;
  template <class Load>
  HWY_INLINE FloatVector vector(std::size_t i, const Load& load) const {
    return load(FloatTag(), at + i);
  }
};

struct Bf16Row {
  const std::uint16_t* at;
  template <class Load>
  HWY_INLINE FloatVector vector(std::size_t i, const Load& load) const {
    const hn::Rebind<std::uint16_t, FloatTag> stored;
    const hn::Rebind<std::uint32_t, FloatTag> wide;
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(wide, load(stored, at + i))));
  }
};

// By integer arithmetic, like tensor::f16_to_float: not every instruction set's conversion handles infinities.
struct F16Row {
  const std::uint16_t* at;
  template <class Load>
  HWY_INLINE FloatVector vector(std::size_t i, const Load& load) const {
    const FloatTag d;
    const hn::Rebind<std::uint16_t, FloatTag> stored;
    const hn::Rebind<std::uint32_t, FloatTag> wide;
    const hn::Rebind<std::int32_t, FloatTag> whole;
    const auto half = hn::PromoteTo(wide, load(stored, at + i));
    const auto magnitude = hn::And(half, hn::Set(wide, 0x7fffU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(half, magnitude));
    // The exponent's bias grows from 15 to 127; the highest exponent of f16 becomes the highest of f32.
    const auto rebias = hn::Set(wide, 112U << 23);
    auto bits = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(wide, 0x7bffU)), hn::Add(bits, rebias), bits);
    const FloatVector fraction = hn::ConvertTo(d, hn::BitCast(whole, magnitude));
    const auto subnormal = hn::BitCast(wide, hn::Mul(fraction, hn::Set(d, 0x1p-24F)));
    bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(wide, 0x400U)), subnormal, bits);
    return hn::BitCast(d, hn::Or(bits, sign));
  }
};

template <typename T>
struct IntegerRow {
  const T* at;
  float scale;
  template <class Load>
  HWY_INLINE FloatVector vector(std::size_t i, const Load& load) const {
    const FloatTag d;
    const hn::Rebind<T, FloatTag> stored;
    const hn::Rebind<std::int32_t, FloatTag> whole;
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(whole, load(stored, at + i))), hn::Set(d, scale));
  }
};

/// One row of an addend's table.
struct TableRow {
  DType dtype = DType::f32;
  const unsigned char* at = nullptr;
  float scale = 0;
};

template <class Visit>
HWY_INLINE void with_row(const TableRow& row, const Visit& visit) {
  const void* at = row.at;
  switch (row.dtype) {
    case DType::bf16: return visit(Bf16Row{static_cast<const std::uint16_t*>(at)});
    case DType::f16: return visit(F16Row{static_cast<const std::uint16_t*>(at)});
    case DType::i8: return visit(IntegerRow<std::int8_t>{static_cast<const std::int8_t*>(at), row.scale});
    case DType::u8: return visit(IntegerRow<std::uint8_t>{static_cast<const std::uint8_t*>(at), row.scale});
    default: return visit(FloatRow{static_cast<const float*>(at)});
  }
}

inline std::size_t bytes_of_element(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::i8 || dtype == DType::u8 ? 1 : 2;
}

/// The row of an addend's table for a position.
inline std::size_t row_of_place(const EmbeddingAddend& addend, std::size_t place) {
  if (addend.period == 1) {
    place = 0;
  } else if (place >= addend.period) {
    place %= addend.period;
  }
  if (addend.indices == nullptr) return place;
  const std::int64_t last = static_cast<std::int64_t>(addend.rows) - 1;
  std::int64_t index = 0;
  if (addend.has_wide_indices) {
    index = static_cast<const std::int64_t*>(addend.indices)[place];
  } else {
    index = static_cast<const std::int32_t*>(addend.indices)[place];
  }
  return static_cast<std::size_t>(index < 0 ? 0 : index > last ? last : index);
}

inline TableRow table_row(const EmbeddingAddend& addend, std::size_t row, std::size_t width) {
  const auto* table = static_cast<const unsigned char*>(addend.table);
  return {addend.dtype, table + row * width * bytes_of_element(addend.dtype),
          addend.scales != nullptr ? addend.scales[row] : 0.0f};
}

/// Prefetches the rows for a position. Consecutive rows are left to the hardware prefetcher, and a row used for the
/// previous position is already in the cache.
inline void fetch_table_rows(const EmbedNormArguments& a, std::size_t place) {
  constexpr std::size_t kLine = 64;
  for (std::size_t k = 0; k < a.count; ++k) {
    const EmbeddingAddend& addend = a.addends[k];
    if (addend.indices == nullptr) continue;
    const std::size_t row = row_of_place(addend, place);
    if (place > 0 && row == row_of_place(addend, place - 1)) continue;
    const std::size_t bytes = a.width * bytes_of_element(addend.dtype);
    const unsigned char* from = static_cast<const unsigned char*>(addend.table) + row * bytes;
    for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(from + at);
    if (addend.scales != nullptr) __builtin_prefetch(addend.scales + row);
  }
}

/// out = the sum of the rows, added in order. Sums of four vectors at a time stay in registers.
inline void sum_table_rows(const TableRow* rows, std::size_t count, std::size_t width, float* out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  const auto load = [](auto tag, const auto* p) HWY_ATTR { return hn::LoadU(tag, p); };
  FloatVector a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    with_row(rows[0], [&](auto row) HWY_ATTR {
      a0 = row.vector(i, load);
      a1 = row.vector(i + lanes, load);
      a2 = row.vector(i + 2 * lanes, load);
      a3 = row.vector(i + 3 * lanes, load);
    });
    for (std::size_t k = 1; k < count; ++k) {
      with_row(rows[k], [&](auto row) HWY_ATTR {
        a0 = hn::Add(a0, row.vector(i, load));
        a1 = hn::Add(a1, row.vector(i + lanes, load));
        a2 = hn::Add(a2, row.vector(i + 2 * lanes, load));
        a3 = hn::Add(a3, row.vector(i + 3 * lanes, load));
      });
    }
    hn::StoreU(a0, d, out + i);
    hn::StoreU(a1, d, out + i + lanes);
    hn::StoreU(a2, d, out + i + 2 * lanes);
    hn::StoreU(a3, d, out + i + 3 * lanes);
  }
  const auto sum = [&](const auto& load_vector) HWY_ATTR {
    with_row(rows[0], [&](auto row) HWY_ATTR { a0 = row.vector(i, load_vector); });
    for (std::size_t k = 1; k < count; ++k)
      with_row(rows[k], [&](auto row) HWY_ATTR { a0 = hn::Add(a0, row.vector(i, load_vector)); });
  };
  for (; i + lanes <= width; i += lanes) {
    sum(load);
    hn::StoreU(a0, d, out + i);
  }
  if (i == width) return;
  const std::size_t left = width - i;
  sum([left](auto tag, const auto* p) HWY_ATTR { return load_first(tag, p, left); });
  store_first(a0, d, out + i, left);
}

inline void embed_norm(const EmbedNormArguments& a, std::size_t begin, std::size_t end) {
  // Rows are scattered over tables larger than any cache. A few are normalized together, while they are in the L1
  // cache.
  constexpr std::size_t kAhead = 8, kTogether = 4;
  for (std::size_t place = begin; place < end && place < begin + kAhead; ++place) fetch_table_rows(a, place);
  NormArguments norm;
  norm.scale = a.scale;
  norm.shift = a.shift;
  norm.epsilon = a.epsilon;
  norm.x_stride = norm.out_stride = norm.width = a.width;
  TableRow rows[kMaxEmbeddingAddends];
  for (std::size_t place = begin; place < end;) {
    norm.x = norm.out = a.out + place * a.width;
    for (norm.rows = 0; norm.rows < kTogether && place < end; ++norm.rows, ++place) {
      if (place + kAhead < end) fetch_table_rows(a, place + kAhead);
      for (std::size_t k = 0; k < a.count; ++k)
        rows[k] = table_row(a.addends[k], row_of_place(a.addends[k], place), a.width);
      sum_table_rows(rows, a.count, a.width, a.out + place * a.width);
    }
    normalize_rows(NormKind::layer, norm);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
