// Integer GEMM with one scale per row, the usual case, for the one instruction set that the including file is compiled
// for: several strips of rows pass a panel in one loop, and an epilogue of only bias and residual runs in the sums'
// registers. So the next strip's products begin while the last one's results are still in flight. Everything here has
// internal linkage.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_words.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

template <typename Weight>
struct StripsInputs {
  const GemmArguments* arguments;
  TilePlace place;  // of the first strip
  std::size_t strips;
  const Weight* panel;
  PrefetchPlan<Weight> wanted_soon;
  FinishTile finish;  // the epilogue for sums spilled to `tile`, unless it runs in registers
  float* tile;
};

// Zeros for which x + 0 has the bits of every x. In memory, as a constant would take a register from the sums.
template <std::size_t kVectors>
struct NoBias {
  constexpr NoBias() : values{} {
    for (float& value : values) value = -0.0f;
  }
  alignas(64) float values[kVectors * kLanes];
};
template <std::size_t kVectors>
constexpr NoBias<kVectors> kNoBias;

// Per-column epilogue operands of a panel.
template <std::size_t kVectors>
struct StripColumns {
  HWY_INLINE StripColumns(const GemmArguments& g, const TilePlace& place) {
    const float* from = g.bias == nullptr ? kNoBias<kVectors>.values : g.bias + place.column;
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t column = place.column + v * kLanes;
      scales[v] = hn::LoadU(kFloats, g.scales.column_scales + column);
      sums[v] = hn::LoadU(kFloats, g.scales.column_sums + column);
      bias[v] = hn::LoadU(kFloats, from + v * kLanes);
    }
  }
  FloatVector scales[kVectors], sums[kVectors], bias[kVectors];
};

// Per-row epilogue operands, advanced from row to row.
struct StripRows {
  StripRows(const GemmArguments& g, const TilePlace& place)
      : scale(g.scales.row_scales + place.row * g.scales.row_stride),
        offset(g.scales.row_offsets + place.row * g.scales.row_stride),
        residual(g.residual == nullptr ? nullptr : g.residual + place.row * g.residual_stride + place.column),
        row_sums(g.row_sums == nullptr ? nullptr : g.row_sums + place.row * kSumLanes),
        c(g.c + place.row * g.c_stride + place.stored.offset),
        scale_stride(g.scales.row_stride),
        residual_stride(g.residual_stride),
        c_stride(g.c_stride),
        continues_row_sums(place.column != 0) {}
  const float *scale, *offset, *residual;
  float *row_sums, *c;
  std::size_t scale_stride, residual_stride, c_stride;
  bool continues_row_sums;
};

// Prefetches kRows rows of a tile into the L1 cache.
template <bool kForWriting, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void fetch_rows(const float* from, std::size_t stride) {
  constexpr std::size_t kLineFloats = kCacheLine / sizeof(float);
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kVectors * kLanes; i += kLineFloats) __builtin_prefetch(from + i, kForWriting, 3);
    from += stride;
    asm("" : "+r"(from));  // as in store_results
  }
}

// Runs the epilogue on the next rows' sums and stores them.
template <bool kHasResidual, bool kSums, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void store_results(const StripColumns<kVectors>& columns, StripRows& rows,
                              const FloatVector (&sums)[kRows][kVectors]) {
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    const FloatVector scale = hn::Set(kFloats, *rows.scale), offset = hn::Set(kFloats, *rows.offset);
    FloatVector x[kVectors];
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
      x[v] = hn::Mul(hn::ConvertTo(kFloats, hn::BitCast(kLaneIntegers, sums[row][v])), scale);
      x[v] = hn::MulAdd(hn::MulAdd(offset, columns.sums[v], x[v]), columns.scales[v], columns.bias[v]);
      if constexpr (kHasResidual) x[v] = hn::Add(x[v], hn::LoadU(kFloats, rows.residual + v * kLanes));
    }
    if constexpr (kSums) {
      FloatVector sum = rows.continues_row_sums ? hn::LoadU(kFloats, rows.row_sums) : hn::Zero(kFloats);
      HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) sum = hn::Add(sum, x[v]);
      hn::StoreU(sum, kFloats, rows.row_sums);
      rows.row_sums += kSumLanes;
    }
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(x[v], kFloats, rows.c + v * kLanes);
    rows.scale += rows.scale_stride;
    rows.offset += rows.scale_stride;
    rows.residual += kHasResidual ? rows.residual_stride : 0;
    rows.c += rows.c_stride;
    // Otherwise compilers keep the addresses of all rows, and take registers from the sums.
    asm("" : "+r"(rows.scale), "+r"(rows.offset), "+r"(rows.residual), "+r"(rows.c));
  }
}

// Corrects the sums of operands that are kOperandOffset less than A's.
template <class Dot, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void add_offset_correction(const GemmArguments& g, const TilePlace& place,
                                      FloatVector (&sums)[kRows][kVectors]) {
  HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
    if (v * kLanes >= place.columns) continue;
    const auto lacking =
        offset_correction<Dot>(g.scales.column_sums + place.column + v * kLanes, place.columns - v * kLanes);
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      sums[row][v] = hn::BitCast(kFloats, hn::Add(hn::BitCast(kLaneIntegers, sums[row][v]), lacking));
    }
  }
}

// Multiplies in.strips strips of kRows rows each, one below the other, with a panel. If kFinishes, in.finish is the
// epilogue.
template <class Dot, std::size_t kRows, std::size_t kVectors, bool kFinishes>
HWY_NOINLINE void multiply_strips(const StripsInputs<typename Dot::Weight>& in) {
  const GemmArguments& g = *in.arguments;
  TilePlace place = in.place;
  StripRows rows(g, place);
  const std::size_t a_stride = g.a_stride, k = g.k;
  const float* a = static_cast<const float*>(g.a) + place.row * a_stride;
  PrefetchPlan<typename Dot::Weight> wanted_soon = in.wanted_soon;
  for (std::size_t strip = 0; strip < in.strips; ++strip, a += kRows * a_stride) {
    if (k >= kLongK) {
      fetch_rows<true, kRows, kVectors>(rows.c, rows.c_stride);
      if (rows.residual != nullptr) fetch_rows<false, kRows, kVectors>(rows.residual, rows.residual_stride);
    }
    // Each is settled: compilers would copy zeros that are known to be equal in the loop.
    FloatVector sums[kRows][kVectors];
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) sums[row][v] = settled(hn::Zero(kFloats));
    }
    const auto* panel = in.panel;
    add_words<Dot, kVectors, false>(a, a_stride, k, panel, 0, wanted_soon, sums);
    if constexpr (kHasOperandOffset<Dot>) add_offset_correction<Dot>(g, place, sums);
    if constexpr (kFinishes) {
      float* tile = in.tile;
      HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
        HWY_UNROLL(16)
        for (std::size_t v = 0; v < kVectors; ++v)
          hn::Store(sums[row][v], kFloats, tile + (row * kVectors + v) * kLanes);
      }
      in.finish(g, place, tile);
      place.row += kRows;
      rows = StripRows(g, place);
    } else {
      const StripColumns<kVectors> columns(g, place);
      const bool has_residual = rows.residual != nullptr, has_sums = rows.row_sums != nullptr;
      if (has_residual && has_sums)
        store_results<true, true>(columns, rows, sums);
      else if (has_residual)
        store_results<true, false>(columns, rows, sums);
      else if (has_sums)
        store_results<false, true>(columns, rows, sums);
      else
        store_results<false, false>(columns, rows, sums);
    }
  }
}

// For the numbers of rows that strips have where there are several.
template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
struct StripsTable {
  static constexpr std::size_t kLeastRows = kMaxRows / 2;
  using Multiply = void (*)(const StripsInputs<typename Dot::Weight>&);
  Multiply in_registers[kMaxRows + 1], finished[kMaxRows + 1];

  template <std::size_t kRows>
  constexpr void fill() {
    in_registers[kRows] = multiply_strips<Dot, kRows, kVectors, false>;
    finished[kRows] = multiply_strips<Dot, kRows, kVectors, true>;
    if constexpr (kRows < kMaxRows) fill<kRows + 1>();
  }
  constexpr StripsTable() : in_registers{}, finished{} { fill<kLeastRows>(); }
};

template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
constexpr StripsTable<Dot, kMaxRows, kVectors> kStripsTable;

// Whether the product can be computed in strips.
inline bool can_use_strips(const GemmArguments& g) {
  return g.lines == nullptr && g.k <= kMaxKBlock && g.scales.groups == 1 && !g.scales.has_group_column_scales;
}

// Rows [row_begin, row_end) of C, more than kMaxRows, in the block's panels.
template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
void multiply_rows_in_strips(const GemmBlock& block, std::size_t row_begin, std::size_t row_end) {
  constexpr std::size_t kPanelWidth = kVectors * kLanes;
  constexpr const auto& kTable = kStripsTable<Dot, kMaxRows, kVectors>;
  alignas(64) float tile[kMaxRows * kPanelWidth];
  const GemmArguments& g = *block.arguments;
  const FinishTile finish = find_finish<Dot::kKind, TileSums::whole>(g);
  const std::size_t rows = row_end - row_begin, strips = (rows + kMaxRows - 1) / kMaxRows;
  const std::size_t strip_rows = rows / strips, longer = rows % strips;  // longer: strips with one row more
  const std::size_t panel_size = g.k * kPanelWidth;
  for (std::size_t panel = block.panel_begin; panel < block.panel_end; ++panel) {
    const auto* packed = static_cast<const typename Dot::Weight*>(g.packed) + panel * panel_size;
    const std::size_t column = panel * kPanelWidth, left = g.n - column;
    StripsInputs<typename Dot::Weight> in;
    in.arguments = &g;
    in.place = {row_begin,   strip_rows + 1,          column, left < kPanelWidth ? left : kPanelWidth,
                kPanelWidth, stored_column(g, column)};
    in.panel = packed;
    in.wanted_soon =
        prefetch_for_strips(strips, kPanelWidth, packed, panel + 1 < block.fetch_end ? packed + panel_size : packed);
    in.finish = finish;
    in.tile = tile;
    const bool is_whole = left >= kPanelWidth && in.place.stored.left >= kPanelWidth;
    const auto& multiply = is_whole && g.activation == Activation::none ? kTable.in_registers : kTable.finished;
    if (longer != 0) {
      in.strips = longer;
      multiply[strip_rows + 1](in);
      in.place.row += longer * (strip_rows + 1);
      in.wanted_soon.next += longer * g.k * in.wanted_soon.a_word;
    }
    in.strips = strips - longer;
    in.place.rows = strip_rows;
    multiply[strip_rows](in);
  }
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
