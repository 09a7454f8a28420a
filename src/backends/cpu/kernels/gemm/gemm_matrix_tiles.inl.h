// The GEMM micro-kernel for CPUs with tile registers (AMX): each holds up to 16 rows of 16 words, and one instruction
// multiplies two of them and adds to a third. Panels are 32 columns wide, so that 16 of their word rows load directly
// into two registers. Registers come from a policy: amx_tiles.inl.h, or a test's emulation.
//
// A policy `Registers` begins unconfigured and has
//   void configure(const TileShapes&)         zeroes all registers
//   void release()                            back to the initial state
//   void zero<kTile>()
//   void load<kTile>(const float*, stride)    strides are words from one row of a register to the next
//   void store<kTile>(float*, stride)
//   void multiply<kSums, kRows, kColumns>()   sums += rows * columns
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/gemm/cache_blocks.h"
#include "backends/cpu/kernels/gemm/gemm_block.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kRegisterRows = 16, kRegisterWords = 16;
// One step multiplies two registers of A's rows by two of W's columns, into four registers of sums.
constexpr std::size_t kStripRows = 2 * kRegisterRows, kStripColumns = 2 * kRegisterWords;
constexpr int kRegisters = 8;
constexpr int kUpperLeft = 0, kUpperRight = 1, kLowerLeft = 2, kLowerRight = 3;  // sums
constexpr int kUpperRows = 4, kLowerRows = 5, kLeftColumns = 6, kRightColumns = 7;

// The operand of LDTILECFG (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
struct TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[kRegisters] = {}, reserved_row_bytes[8] = {};
  std::uint8_t rows[kRegisters] = {}, reserved_rows[8] = {};
};
static_assert(sizeof(TileShapes) == 64);

// Shapes for strips of strip_rows rows, `words` words at a time. Lower registers without rows are not used.
inline TileShapes shapes_for(std::size_t strip_rows, std::size_t words) {
  TileShapes shapes;
  const std::size_t upper = strip_rows < kRegisterRows ? strip_rows : kRegisterRows, lower = strip_rows - upper;
  for (int i = 0; i < kRegisters; ++i) {
    shapes.row_bytes[i] = kRegisterWords * sizeof(float);
    shapes.rows[i] = kRegisterRows;
  }
  for (const int i : {kUpperLeft, kUpperRight, kUpperRows}) shapes.rows[i] = static_cast<std::uint8_t>(upper);
  for (const int i : {kLowerLeft, kLowerRight, kLowerRows}) {
    if (lower != 0) shapes.rows[i] = static_cast<std::uint8_t>(lower);
  }
  for (const int i : {kUpperRows, kLowerRows}) shapes.row_bytes[i] = static_cast<std::uint16_t>(words * sizeof(float));
  for (const int i : {kLeftColumns, kRightColumns}) shapes.rows[i] = static_cast<std::uint8_t>(words);
  return shapes;
}

// The registers while a strip of rows is multiplied with a panel.
template <class Registers>
class StripOfTiles {
 public:
  // For products over `words` words, in steps of equal length where that divides evenly.
  explicit StripOfTiles(std::size_t words) {
    const std::size_t steps = (words + kRegisterWords - 1) / kRegisterWords;
    if (steps != 0 && words % steps == 0) step_words_ = words / steps;
  }

  // Shapes are kept until others are needed: setting them takes longer than a multiplication.
  void set_rows(std::size_t rows) {
    if (rows == rows_) return;
    registers_.configure(shapes_for(rows, step_words_));
    rows_ = rows;
  }
  void release() { registers_.release(); }
  void set_columns(std::size_t columns) { has_right_ = columns > kRegisterWords; }

  void clear_sums() {
    each_sum([&](auto sums, std::size_t, std::size_t) HWY_ATTR { registers_.template zero<sums()>(); });
  }

  // Adds the products of `words` words of each row with as many rows of the panel, and calls `meanwhile()` after each
  // register's step. For integers, `behind` panel rows after these may also be read.
  template <typename Meanwhile>
  HWY_INLINE void add(const float* a, std::size_t a_stride, const float* panel, std::size_t words, std::size_t behind,
                      const Meanwhile& meanwhile) {
    for (; words >= step_words_; words -= step_words_) {
      add_register(a, a_stride, panel);
      meanwhile();
      a += step_words_;
      panel += step_words_ * kStripColumns;
    }
    if (words == 0) return;
    add_last(a, a_stride, panel, words, behind);
    meanwhile();
  }

  // Loads or stores the registers in use, of a tile with this stride between rows.
  void load_sums(const float* tile, std::size_t stride) {
    each_sum([&](auto sums, std::size_t row, std::size_t column)
                 HWY_ATTR { registers_.template load<sums()>(tile + row * stride + column, stride); });
  }
  void store_sums(float* tile, std::size_t stride) {
    each_sum([&](auto sums, std::size_t row, std::size_t column)
                 HWY_ATTR { registers_.template store<sums()>(tile + row * stride + column, stride); });
  }

 private:
  bool has_lower() const { return rows_ > kRegisterRows; }

  // Calls visit(register, its row, its column in a tile) for each register of sums in use.
  template <typename Visit>
  HWY_INLINE void each_sum(const Visit& visit) {
    visit(std::integral_constant<int, kUpperLeft>(), 0, 0);
    if (has_right_) visit(std::integral_constant<int, kUpperRight>(), 0, kRegisterWords);
    if (!has_lower()) return;
    visit(std::integral_constant<int, kLowerLeft>(), kRegisterRows, 0);
    if (has_right_) visit(std::integral_constant<int, kLowerRight>(), kRegisterRows, kRegisterWords);
  }

  void add_register(const float* a, std::size_t a_stride, const float* panel) {
    registers_.template load<kLeftColumns>(panel, kStripColumns);
    if (has_right_) registers_.template load<kRightColumns>(panel + kRegisterWords, kStripColumns);
    registers_.template load<kUpperRows>(a, a_stride);
    registers_.template multiply<kUpperLeft, kUpperRows, kLeftColumns>();
    if (has_right_) registers_.template multiply<kUpperRight, kUpperRows, kRightColumns>();
    if (!has_lower()) return;
    registers_.template load<kLowerRows>(a + kRegisterRows * a_stride, a_stride);
    registers_.template multiply<kLowerLeft, kLowerRows, kLeftColumns>();
    if (has_right_) registers_.template multiply<kLowerRight, kLowerRows, kRightColumns>();
  }

  // For fewer words than a register has: padded with zeros, whose products change no sum; reconfiguring the shapes
  // would clear the sums. The panel is copied where memory after it may not be read.
  HWY_NOINLINE void add_last(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                             std::size_t behind) {
    alignas(64) float rows[kStripRows * kRegisterWords];
    static_assert(kRegisterWords % kLanes == 0);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t first = 0; first < kRegisterWords; first += kLanes) {
        const std::size_t left = words > first ? words - first : 0;
        const FloatVector v = left == 0 ? hn::Zero(kFloats) : load_at_most(kFloats, a + row * a_stride + first, left);
        hn::Store(v, kFloats, rows + row * kRegisterWords + first);
      }
    }
    if (words + behind >= kRegisterWords) return add_register(rows, kRegisterWords, panel);
    alignas(64) float columns[kRegisterWords * kStripColumns] = {};
    __builtin_memcpy(columns, panel, words * kStripColumns * sizeof(float));
    add_register(rows, kRegisterWords, columns);
  }

  Registers registers_;
  std::size_t rows_ = 0, step_words_ = kRegisterWords;
  bool has_right_ = false;
};

// A tile whose sums have left the tile registers. Its epilogue uses vector instructions and runs a few rows at a time
// between the next tile's products, whose separate execution unit would otherwise idle.
template <WordKind kKind>
class PendingTile {
 public:
  explicit PendingTile(const GemmArguments& g)
      : g_(g), finish_(find_finish_for(g)), rows_at_once_(g.activation == Activation::none ? 8 : 4) {}

  // Where to store sums, once all earlier ones are finished.
  float* sums() { return sums_; }
  // sums() now holds this group of the tile at `place`. The groups of a tile come in order.
  void begin(const TilePlace& place, std::size_t group) {
    place_ = place;
    group_ = group;
    done_ = 0;
  }
  // Finishes rows up to `part` of `parts`, in whole steps.
  HWY_INLINE void advance(std::size_t part, std::size_t parts) {
    const std::size_t due = place_.rows * part / parts;
    const std::size_t end = part == parts ? due : due - due % rows_at_once();
    if (end > done_) finish_until(end);
  }

 private:
  static constexpr bool kIsOfIntegers = is_of_integers(kKind);

  // Too many instructions at once would starve the tile unit of its next products.
  std::size_t rows_at_once() const { return group_ + 1 < g_.scales.groups ? 16 : rows_at_once_; }
  static FinishTile find_finish_for(const GemmArguments& g) {
    if constexpr (!kIsOfIntegers) return find_finish<kKind, TileSums::floats>(g);
    return is_whole(g) ? find_finish<kKind, TileSums::whole>(g) : find_finish<kKind, TileSums::scaled>(g);
  }
  static bool is_whole(const GemmArguments& g) { return g.scales.groups == 1 && !g.scales.has_group_column_scales; }

  void finish_until(std::size_t end) {
    TilePlace rows = place_;
    rows.row += done_;
    rows.rows = end - done_;
    const std::size_t first = done_ * kStripColumns;
    done_ = end;
    if (kIsOfIntegers && !is_whole(g_)) {
      add_group(rows, sums_ + first, total_ + first);
      if (group_ + 1 == g_.scales.groups) finish_(g_, rows, total_ + first);
    } else {
      finish_(g_, rows, sums_ + first);
    }
  }

  // The last group also adds the offsets of all groups before it, in order, as far as registers hold them.
  void add_group(const TilePlace& rows, const float* sums, float* total) {
    if (group_ == 0) return add_group<true, 0>(rows, sums, total);
    if (group_ + 1 < g_.scales.groups) return add_group<false, 0>(rows, sums, total);
    switch (group_) {
      case 1: return add_group<false, 1>(rows, sums, total);
      case 2: return add_group<false, 2>(rows, sums, total);
      case 3: return add_group<false, 3>(rows, sums, total);
      default: break;
    }
    add_group<false, 4>(rows, sums, total);
    add_offsets_before_last(g_, rows, 4, total);
  }

  // Adds the group's sums, as floats with row scales, to those of the groups before it, and the offsets of the first
  // groups to the total.
  template <bool kIsFirst, std::size_t kOffsets>
  void add_group(const TilePlace& place, const float* HWY_RESTRICT sums, float* HWY_RESTRICT total) {
    std::size_t column = 0;
    for (; column + kLanes < place.columns; column += 2 * kLanes)
      add_columns<kIsFirst, kOffsets, 2>(place, column, sums + column, total + column);
    if (column < place.columns) add_columns<kIsFirst, kOffsets, 1>(place, column, sums + column, total + column);
  }

  // The same for kVectors vectors of columns.
  template <bool kIsFirst, std::size_t kOffsets, std::size_t kVectors>
  HWY_INLINE void add_columns(const TilePlace& place, std::size_t column, const float* HWY_RESTRICT sums,
                              float* HWY_RESTRICT total) {
    const std::size_t rows = place.rows, stride = g_.scales.row_stride;
    const float* scales = g_.scales.row_scales + place.row * stride + group_;
    const float* offsets = g_.scales.row_offsets + place.row * stride;
    FloatVector factors[kVectors], of_offsets[kVectors][kOffsets + 1];
    HWY_UNROLL(2) for (std::size_t i = 0; i < kVectors; ++i) {
      const std::size_t at = column + i * kLanes;
      factors[i] = group_scales(g_.scales, g_.n, group_, place.column + at, place.columns - at);
      HWY_UNROLL(4)
      for (std::size_t group = 0; group < kOffsets; ++group)
        of_offsets[i][group] = offset_factors(g_, place, group, at);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      HWY_UNROLL(2) for (std::size_t i = 0; i < kVectors; ++i) {
        const std::size_t at = row * kStripColumns + i * kLanes;
        const FloatVector whole = hn::ConvertTo(kFloats, hn::BitCast(kLaneIntegers, hn::Load(kFloats, sums + at)));
        const FloatVector before = kIsFirst ? hn::Zero(kFloats) : hn::Load(kFloats, total + at);
        FloatVector x = hn::MulAdd(hn::Mul(whole, factors[i]), hn::Set(kFloats, scales[row * stride]), before);
        HWY_UNROLL(4)
        for (std::size_t group = 0; group < kOffsets; ++group)
          x = hn::MulAdd(hn::Set(kFloats, offsets[row * stride + group]), of_offsets[i][group], x);
        hn::Store(x, kFloats, total + at);
      }
    }
  }

  const GemmArguments& g_;
  const FinishTile finish_;
  const std::size_t rows_at_once_;
  TilePlace place_{};
  std::size_t group_ = 0, done_ = 0;
  alignas(64) float sums_[kStripRows * kStripColumns];
  alignas(64) float total_[kIsOfIntegers ? kStripRows * kStripColumns : kLanes];
};

// Whether the sums already are the results, in floats.
inline bool is_plain(const GemmArguments& g) {
  return g.halves == nullptr && g.bias == nullptr && g.activation == Activation::none && g.residual == nullptr &&
         g.row_sums == nullptr;
}

// Prefetches memory that is needed soon, a little in each of `steps` steps, into the L1 or L2 cache.
class PanelPrefetch {
 public:
  PanelPrefetch(const float* begin, std::size_t words, std::size_t steps, bool into_first)
      : next_(begin),
        end_(begin + words),
        words_a_step_((words / kLine + steps - 1) / steps * kLine),
        into_first_(into_first) {}
  HWY_INLINE void step() {
    const float* until = static_cast<std::size_t>(end_ - next_) < words_a_step_ ? end_ : next_ + words_a_step_;
    if (into_first_) {
      for (; next_ < until; next_ += kLine) __builtin_prefetch(next_, 0, 3);
    } else {
      for (; next_ < until; next_ += kLine) __builtin_prefetch(next_, 0, 2);
    }
  }

 private:
  static constexpr std::size_t kLine = kCacheLine / sizeof(float);
  const float *next_, *end_;
  std::size_t words_a_step_;
  bool into_first_;
};

// Prefetch distance of a lone strip, which reads a panel faster than memory delivers it. From memory this is 12 to 20 %
// faster, and 4 % slower where weights are already in the L2 cache; prefetching into L2 instead is 20 % slower.
constexpr std::size_t kWordsAhead = 3072 / sizeof(float);

// The first set of panels that all strips pass, in words: half of an L1 cache. These were not prefetched, so the first
// strip waits for each of them. Each later set is twice as large.
constexpr std::size_t kFirstPanelWords = (std::size_t{24} << 10) / sizeof(float);

// The rows of a block fit the L2 cache, and so does a panel: k is never split. A strip of rows stays in the L1 cache
// for some panels, while the panels after those are prefetched into L2.
template <class Registers, WordKind kKind>
void matrix_tiles_block(const GemmBlock& block) {
  constexpr bool kIsOfIntegers = kKind == WordKind::bytes;
  const GemmArguments& g = *block.arguments;
  const Strips<kStripRows> strips(g, block.row_begin, block.row_end, true);
  const auto values = strips.part(0);
  const std::size_t groups = kIsOfIntegers ? g.scales.groups : 1, group_words = values.run / groups;
  // At least one, for empty products.
  const std::size_t steps = values.segments * (group_words == 0 ? 1 : (group_words - 1) / kRegisterWords + 1);
  const std::size_t panels = (g.n + kStripColumns - 1) / kStripColumns, panel_words = g.k * kStripColumns;
  const auto panels_of = [&](std::size_t all_words) {
    return panel_words < all_words ? all_words / (panel_words + 1) + 1 : 1;
  };
  const std::size_t most_panels = panels_of(cache_blocks().row_words / 8);
  std::size_t panels_per_unit = panels_of(kFirstPanelWords);
  StripOfTiles<Registers> strip_tiles(group_words);
  PendingTile<kKind> waiting(g);
  // Stores straight into C: the detour through memory would cost a lone strip 15 % of its time. With several strips
  // that write more than the L1 cache holds, it is up to 15 % slower: registers wait for C's lines.
  const bool stores_sums = !kIsOfIntegers && strips.count() == 1 && is_plain(g);
  const auto multiply = [&](const typename Strips<kStripRows>::Strip& strip, std::size_t panel,
                            PanelPrefetch& panel_prefetch) HWY_ATTR {
    const std::size_t column = panel * kStripColumns, left = g.n - column;
    const float* packed = static_cast<const float*>(g.packed) + column * g.k;
    const std::size_t columns = left < kStripColumns ? left : kStripColumns;
    strip_tiles.set_columns(columns);
    for (std::size_t group = 0; group < groups; ++group) {
      strip_tiles.clear_sums();
      std::size_t step = 0;
      for (std::size_t segment = 0; segment < values.segments; ++segment) {
        const float* from = strip.a + values.offset + values.offsets[segment] + group * group_words;
        const std::size_t first = segment * values.run + group * group_words;
        // A group is followed by the next group, or by the next panel.
        const std::size_t behind = kIsOfIntegers ? (g.k - first - group_words) + (panels - panel - 1) * g.k : 0;
        strip_tiles.add(from, g.a_stride, packed + first * kStripColumns, group_words, behind, [&]() HWY_ATTR {
          panel_prefetch.step();
          waiting.advance(++step, steps);
        });
      }
      const StoredColumn stored = stored_column(g, column);
      if (stores_sums && columns == kStripColumns && stored.left >= kStripColumns) {
        strip_tiles.store_sums(g.c + strip.row * g.c_stride + stored.offset, g.c_stride);
        continue;
      }
      waiting.advance(1, 1);
      strip_tiles.store_sums(waiting.sums(), kStripColumns);
      waiting.begin({strip.row, strip.rows, column, columns, kStripColumns, stored}, group);
    }
  };
  // Several strips prefetch the following panels while they process [first, end). A lone one has time only for the
  // panel that it reads itself.
  const auto drawn_in_during = [&](std::size_t first, std::size_t end, std::size_t following) {
    const bool is_lone = strips.count() == 1;
    const std::size_t from = is_lone ? first * panel_words + kWordsAhead : end * panel_words;
    const std::size_t until = is_lone ? end * panel_words + kWordsAhead : (end + following) * panel_words;
    const std::size_t last = block.fetch_end * panel_words < until ? block.fetch_end * panel_words : until;
    return PanelPrefetch(static_cast<const float*>(g.packed) + from, last < from ? 0 : last - from,
                         strips.count() * (end - first) * groups * steps, is_lone);
  };
  for (std::size_t first = block.panel_begin, end; first < block.panel_end; first = end) {
    end = block.panel_end - first < panels_per_unit ? block.panel_end : first + panels_per_unit;
    panels_per_unit = 2 * panels_per_unit < most_panels ? 2 * panels_per_unit : most_panels;
    PanelPrefetch panel_prefetch = drawn_in_during(first, end, panels_per_unit);
    for (std::size_t index = 0; index < strips.count(); ++index) {
      const auto strip = strips[index];
      strip_tiles.set_rows(strip.rows);
      for (std::size_t panel = first; panel < end; ++panel) multiply(strip, panel, panel_prefetch);
    }
  }
  waiting.advance(1, 1);
  strip_tiles.release();
}

template <class Registers, WordKind kKind>
GemmKernel matrix_tiles_kernel() {
  return {kKind, kStripColumns, kStripRows, matrix_tiles_block<Registers, kKind>, sum_rows};
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
