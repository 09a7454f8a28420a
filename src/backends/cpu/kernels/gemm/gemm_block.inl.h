// The GEMM micro-kernel, for the one instruction set that the including file is compiled for: tiles of a few rows of A
// by a panel of W, whose sums stay in registers over k. Everything here has internal linkage.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/gemm/gemm_strips.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

template <typename Weight>
struct TileInputs {
  const float* a;  // first row
  std::size_t a_stride;
  const std::ptrdiff_t* segment_offsets;  // relative to `a`, of each segment's k values
  std::size_t segments;
  const Weight* panel;       // first panel
  std::size_t panel_stride;  // from one panel to the next
  std::size_t k;             // of a segment
  bool continues;            // adds to the sums in `out`
  const float* row_scales;   // integers only, [rows, segments], rows scales_stride apart: sums become floats and `out`
                             // is their sum over segments, each times its scale; null: `out` gets integers
  const float* column_sums;  // integers only, with row_scales, [segments, sums_stride]: sums of the columns of W
  const float* column_scales;                       // likewise, scales of the columns of W; null: not per group
  std::size_t sums_stride, scales_stride, columns;  // columns: valid columns of the panel
  std::size_t out_stride;                           // of the rows of `out`
  const float* bias;                                // added to each row of `out` at the end; needs all columns; or null
  const float* residual;                            // added after the bias; or null
  std::size_t residual_stride;
  float* row_sums;          // receives sums of the rows of `out`; or null
  bool continues_row_sums;  // adds to the existing row sums
  PrefetchPlan<Weight> wanted_soon;
  bool is_lone;  // the rows' only strip
};

// out[row][column] (+)= sum over k of a[row][k] * panel[k][column], for kRows rows and kPanels panels side by side.
template <class Dot, std::size_t kRows, std::size_t kPanels, std::size_t kVectors>
HWY_NOINLINE void multiply_tile(const TileInputs<typename Dot::Weight>& in, float* HWY_RESTRICT out) {
  using Weight = typename Dot::Weight;
  constexpr std::size_t kColumns = kPanels * kVectors;  // in vectors

  FloatVector sums[kRows][kColumns];
  if (in.continues) {
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
        sums[row][v] = hn::LoadU(kFloats, out + row * in.out_stride + v * kLanes);
      }
    }
  } else {
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) sums[row][v] = hn::Zero(kFloats);
    }
  }
  const Weight* panel = in.panel;
  PrefetchPlan<Weight> wanted_soon = in.wanted_soon;

  // Ends the group of this segment: its sums become floats, and the next group begins with zeros.
  const auto finish_run = [&]<bool kScalesColumns>(std::size_t run, std::bool_constant<kScalesColumns>) HWY_ATTR
      __attribute__((always_inline)) {
    FloatVector column_scales[kColumns];
    if constexpr (kScalesColumns) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
        column_scales[v] = hn::Zero(kFloats);
        if (v * kLanes >= in.columns) continue;
        const float* from = in.column_scales + run * in.sums_stride + v * kLanes;
        column_scales[v] = load_at_most(kFloats, from, in.columns - v * kLanes);
      }
    }
    hn::Vec<decltype(kLaneIntegers)> lacking[kColumns];
    if constexpr (kHasOperandOffset<Dot>) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
        lacking[v] = hn::Zero(kLaneIntegers);
        if (v * kLanes >= in.columns) continue;
        lacking[v] =
            offset_correction<Dot>(in.column_sums + run * in.sums_stride + v * kLanes, in.columns - v * kLanes);
      }
    }
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      const FloatVector scale = hn::Set(kFloats, in.row_scales[row * in.scales_stride + run]);
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
        float* to = out + row * in.out_stride + v * kLanes;
        auto whole = hn::BitCast(kLaneIntegers, sums[row][v]);
        if constexpr (kHasOperandOffset<Dot>) whole = hn::Add(whole, lacking[v]);
        FloatVector sum = hn::ConvertTo(kFloats, whole);
        if constexpr (kScalesColumns) sum = hn::Mul(sum, column_scales[v]);
        const FloatVector before = run == 0 ? hn::Zero(kFloats) : hn::LoadU(kFloats, to);
        hn::StoreU(hn::MulAdd(sum, scale, before), kFloats, to);
        sums[row][v] = hn::Zero(kFloats);
      }
    }
  };

  for (std::size_t segment = 0; segment < in.segments; ++segment) {
    // Groups of integers are contiguous.
    const float* first = kIsInteger<Dot> ? in.a + segment * in.k : in.a + in.segment_offsets[segment];
    if (in.is_lone)
      add_words<Dot, kVectors, true>(first, in.a_stride, in.k, panel, in.panel_stride, wanted_soon, sums);
    else
      add_words<Dot, kVectors, false>(first, in.a_stride, in.k, panel, in.panel_stride, wanted_soon, sums);
    if constexpr (kIsInteger<Dot>) {
      if (in.row_scales != nullptr) {
        if (in.column_scales != nullptr)
          finish_run(segment, std::true_type());
        else
          finish_run(segment, std::false_type());
      }
    }
  }
  if (kIsInteger<Dot> && in.row_scales != nullptr) return;
  if (!kIsInteger<Dot> && in.bias != nullptr) {
    HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
      const FloatVector bias = hn::LoadU(kFloats, in.bias + v * kLanes);
      HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) sums[row][v] = hn::Add(sums[row][v], bias);
    }
  }
  if (!kIsInteger<Dot> && in.residual != nullptr) {
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      const float* residual = in.residual + row * in.residual_stride;
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
        sums[row][v] = hn::Add(sums[row][v], hn::LoadU(kFloats, residual + v * kLanes));
      }
    }
  }
  if (!kIsInteger<Dot> && in.row_sums != nullptr) {
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      float* to = in.row_sums + row * kSumLanes;
      FloatVector lanes = in.continues_row_sums ? hn::LoadU(kFloats, to) : hn::Zero(kFloats);
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) lanes = hn::Add(lanes, sums[row][v]);
      hn::StoreU(lanes, kFloats, to);
    }
  }
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
      hn::StoreU(sums[row][v], kFloats, out + row * in.out_stride + v * kLanes);
    }
  }
}

template <class Dot>
using MultiplyTile = void (*)(const TileInputs<typename Dot::Weight>&, float*);

// multiply_tile for every number of rows up to kMaxRows, for one panel and for several.
template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
struct TileTable {
  MultiplyTile<Dot> one[kMaxRows + 1];
  MultiplyTile<Dot> several[kMaxRows + 1];
  std::size_t panels[kMaxRows + 1];  // panels per call of `several`

  template <std::size_t kRows>
  constexpr void fill() {
    // With few rows, only several panels at a time keep enough chains of multiply-adds running to hide their latency.
    constexpr std::size_t kPanels = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
    one[kRows] = multiply_tile<Dot, kRows, 1, kVectors>;
    several[kRows] = multiply_tile<Dot, kRows, kPanels, kVectors>;
    panels[kRows] = kPanels;
    if constexpr (kRows < kMaxRows) fill<kRows + 1>();
  }
  constexpr TileTable() : one{}, several{}, panels{} { fill<1>(); }
};

template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
constexpr TileTable<Dot, kMaxRows, kVectors> kTiles;

// Dots of narrow weights name the dot of the widened values, WideDot.
template <class Dot>
constexpr bool kIsNarrow = requires { typename Dot::WideDot; };

// From this many strips on, widening a part of a panel once is faster than each time that it is read.
constexpr std::size_t kStripsWorthWidening = 3;

// Writes `count` weights, a multiple of kLanes, as floats.
template <class Dot>
void widen(const typename Dot::Weight* HWY_RESTRICT weights, std::size_t count, float* HWY_RESTRICT out) {
  for (std::size_t i = 0; i < count; i += kLanes) hn::Store(Dot::template weights<0>(weights + i), kFloats, out + i);
}

// How the rows of a block are cut into strips, and rows of A into parts.
template <std::size_t kMaxRows>
class Strips {
 public:
  Strips(const GemmArguments& g, std::size_t row_begin, std::size_t row_end, bool in_one_part)
      : g_(g),
        row_begin_(row_begin),
        rows_(row_end - row_begin),
        line_rows_(g.lines == nullptr ? rows_ : g.lines->rows),
        line_strips_((line_rows_ + kMaxRows - 1) / kMaxRows),
        count_(rows_ / line_rows_ * line_strips_),
        segments_(g.lines == nullptr ? 1 : g.lines->segments) {
    const std::size_t parts = g.k == 0 || in_one_part ? 1 : (g.k + kMaxKBlock - 1) / kMaxKBlock;
    parts_ = g.lines == nullptr || parts < segments_ ? parts : segments_;
  }

  std::size_t count() const { return count_; }
  std::size_t parts() const { return parts_; }

  // The first row of C and of A, before any segment, and the number of rows.
  struct Strip {
    const float* a;
    std::size_t row, rows;
  };
  HWY_INLINE Strip operator[](std::size_t strip) const {
    if (g_.lines == nullptr) {
      const std::size_t row = row_begin_ + rows_ * strip / count_;
      return {static_cast<const float*>(g_.a) + row * g_.a_stride, row,
              row_begin_ + rows_ * (strip + 1) / count_ - row};
    }
    const std::size_t line = strip / line_strips_, at = strip % line_strips_;
    const std::size_t begin = line_rows_ * at / line_strips_, end = line_rows_ * (at + 1) / line_strips_;
    const std::size_t row = row_begin_ + line * line_rows_ + begin;
    const auto from = g_.lines->line_offsets[row / line_rows_] + static_cast<std::ptrdiff_t>(begin * g_.a_stride);
    return {static_cast<const float*>(g_.a) + from, row, end - begin};
  }

  // Part of k: `segments` runs of `run` values each, which begin at offsets[s] + offset, after the first `first`
  // values.
  struct Part {
    std::size_t first, run, segments;
    const std::ptrdiff_t* offsets;
    std::ptrdiff_t offset;
  };
  HWY_INLINE Part part(std::size_t part) const {
    static constexpr std::ptrdiff_t kNone[] = {0};
    if (g_.lines == nullptr) {
      const std::size_t begin = g_.k * part / parts_, end = g_.k * (part + 1) / parts_;
      return {begin, end - begin, 1, kNone, static_cast<std::ptrdiff_t>(begin)};
    }
    const std::size_t begin = segments_ * part / parts_, end = segments_ * (part + 1) / parts_;
    const std::size_t run = g_.k / segments_;
    return {begin * run, run, end - begin, g_.lines->segment_offsets + begin, 0};
  }

 private:
  const GemmArguments& g_;
  std::size_t row_begin_, rows_, line_rows_, line_strips_, count_, segments_, parts_ = 1;
};

// Rows [row_begin, row_end) of C in panels [panel_begin, panel_end): at most kMostStrips strips if k is in parts.
template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
void multiply_rows(const GemmBlock& block, std::size_t row_begin, std::size_t row_end) {
  constexpr std::size_t kPanelWidth = kVectors * kLanes;
  constexpr std::size_t kTileFloats = (kMaxRows < 4 ? 4 : kMaxRows) * kPanelWidth;
  alignas(64) float tiles[kMostStrips][kTileFloats];
  alignas(64) float widened[kIsNarrow<Dot> ? kMaxKBlock * kPanelWidth : kLanes];

  constexpr bool kIsOfIntegers = kIsInteger<Dot>;
  const GemmArguments& g = *block.arguments;
  const std::size_t panel_end = block.panel_end;
  const bool is_finished_by_sums = !kIsOfIntegers && g.activation == Activation::none && g.halves == nullptr;
  const FinishTile finish = find_finish < Dot::kKind, kIsOfIntegers ? TileSums::scaled : TileSums::floats > (g);
  const bool has_groups = kIsOfIntegers && g.scales.groups > 1;
  const Strips<kMaxRows> strips(g, row_begin, row_end, has_groups);
  const std::size_t panel_size = g.k * kPanelWidth, parts = strips.parts();
  for (std::size_t panel = block.panel_begin, panels = 1; panel < panel_end; panel += panels) {
    panels = strips.count() == 1 ? kTiles<Dot, kMaxRows, kVectors>.panels[row_end - row_begin] : 1;
    if (panels > panel_end - panel) panels = 1;
    const StoredColumn stored = stored_column(g, panel * kPanelWidth);
    const auto place_of = [&](const typename Strips<kMaxRows>::Strip& strip) HWY_ATTR {
      const std::size_t column = panel * kPanelWidth, width = panels * kPanelWidth;
      return TilePlace{strip.row, strip.rows, column, g.n - column < width ? g.n - column : width, width, stored};
    };
    for (std::size_t part = 0; part < parts; ++part) {
      const auto values = strips.part(part);
      const bool is_last_part = part + 1 == parts;
      const auto* packed =
          static_cast<const typename Dot::Weight*>(g.packed) + panel * panel_size + values.first * kPanelWidth;
      const std::size_t part_size = panels * values.segments * values.run * kPanelWidth;
      const bool more_follows = !is_last_part || panel + panels < block.fetch_end;
      // Multiplies all strips with `weights`, as read by Read; `next` follows them in memory.
      const auto multiply_strips = [&]<class Read>(std::type_identity<Read>, const typename Read::Weight* weights,
                                                   const typename Read::Weight* next) HWY_ATTR {
        constexpr const auto& kTable = kTiles<Read, kMaxRows, kVectors>;
        const MultiplyTile<Read>* multiply = panels == 1 ? kTable.one : kTable.several;
        auto wanted = prefetch_for_strips(strips.count(), kPanelWidth, weights, more_follows ? next : weights);
        for (std::size_t index = 0; index < strips.count(); ++index) {
          const auto strip = strips[index];
          const TilePlace place = place_of(strip);
          // A full tile of sums with at most bias and residual to add goes straight to C.
          const bool goes_to_c =
              is_finished_by_sums && place.columns == place.width && place.columns <= place.stored.left;
          float* tile = goes_to_c ? g.c + place.row * g.c_stride + stored.offset : tiles[parts == 1 ? 0 : index];
          TileInputs<typename Read::Weight> inputs;
          inputs.a = strip.a + values.offset;
          inputs.a_stride = g.a_stride;
          inputs.segment_offsets = values.offsets;
          inputs.segments = values.segments;
          inputs.panel = weights;
          inputs.panel_stride = panel_size;
          inputs.k = values.run;
          inputs.continues = part != 0;
          inputs.out_stride = goes_to_c ? g.c_stride : place.width;
          const bool adds = goes_to_c && is_last_part;
          inputs.bias = adds && g.bias != nullptr ? g.bias + place.column : nullptr;
          inputs.residual =
              adds && g.residual != nullptr ? g.residual + place.row * g.residual_stride + place.column : nullptr;
          inputs.residual_stride = g.residual_stride;
          inputs.row_sums = adds && g.row_sums != nullptr ? g.row_sums + place.row * kSumLanes : nullptr;
          inputs.continues_row_sums = place.column != 0;
          inputs.row_scales = nullptr;
          if (kIsOfIntegers && is_last_part) {  // until then, integer sums are spilled as integers
            inputs.row_scales = g.scales.row_scales + place.row * g.scales.row_stride;
            inputs.column_sums = g.scales.column_sums + place.column;
            inputs.column_scales = g.scales.has_group_column_scales ? g.scales.column_scales + place.column : nullptr;
            inputs.sums_stride = g.n;
            inputs.scales_stride = g.scales.row_stride;
            inputs.columns = place.columns;
            inputs.segments = g.scales.groups;
            inputs.k = values.run / g.scales.groups;
          }
          inputs.wanted_soon = wanted;
          inputs.is_lone = strips.count() == 1;
          wanted.next += values.segments * values.run * wanted.a_word;
          if (is_last_part && g.k >= kLongK) prefetch_outputs<may_round(Dot::kKind)>(g, place);
          multiply[place.rows](inputs, tile);
          if (!is_last_part || goes_to_c) continue;
          if (kIsOfIntegers && g.scales.groups > 1) add_offsets_before_last(g, place, 0, tile);
          finish(g, place, tile);
        }
      };
      if constexpr (kIsNarrow<Dot>) {
        if (strips.count() >= kStripsWorthWidening && part_size <= kMaxKBlock * kPanelWidth) {
          widen<Dot>(packed, part_size, widened);
          multiply_strips(std::type_identity<typename Dot::WideDot>(), widened,
                          reinterpret_cast<const float*>(packed + part_size));
          continue;
        }
      }
      multiply_strips(std::type_identity<Dot>(), packed, packed + part_size);
    }
  }
}

template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
void gemm_block(const GemmBlock& block) {
  // Where the panels stay in the cache, few rows at a time go through all of them, so that C is written sequentially.
  constexpr std::size_t kSmallPanels = 16 * 1024, kFewStrips = 4;  // floats
  const GemmArguments& g = *block.arguments;
  const bool is_small = (block.panel_end - block.panel_begin) * kVectors * kLanes * g.k <= kSmallPanels;
  std::size_t most_rows = is_small            ? kFewStrips * kMaxRows
                          : g.k <= kMaxKBlock ? block.row_end - block.row_begin
                                              : kMostStrips * kMaxRows;
  if (g.lines != nullptr) {
    const std::size_t strips = (g.lines->rows + kMaxRows - 1) / kMaxRows;  // per line
    const std::size_t lines = most_rows / kMaxRows / strips;
    most_rows = (lines == 0 ? 1 : lines) * g.lines->rows;
  }
  for (std::size_t row = block.row_begin; row < block.row_end; row += most_rows) {
    const std::size_t end = block.row_end - row < most_rows ? block.row_end : row + most_rows;
    if constexpr (kIsInteger<Dot>) {
      if (end - row > kMaxRows && can_use_strips(g)) {
        multiply_rows_in_strips<Dot, kMaxRows, kVectors>(block, row, end);
        continue;
      }
    }
    multiply_rows<Dot, kMaxRows, kVectors>(block, row, end);
  }
}

// kMaxRows * kVectors sums, kVectors weights and one value of A must fit into the registers.
template <class Dot, std::size_t kMaxRows, std::size_t kVectors>
GemmKernel gemm_kernel() {
  return {Dot::kKind, kVectors * kLanes,           kMaxRows, gemm_block<Dot, kMaxRows, kVectors>,
          sum_rows,   sizeof(typename Dot::Weight)};
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
