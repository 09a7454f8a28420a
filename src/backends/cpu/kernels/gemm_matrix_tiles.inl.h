// The inside of a matrix product for processors with tile registers (AMX): each holds up to 16 rows of 16 words, and
// one instruction multiplies two of them and adds to a third. Panels are 32 columns wide, so that 16 of their rows of
// words are two registers as they lie. What has registers is a policy: amx_tiles.inl.h, or a test's that emulates it.
//
// A policy `Registers` begins unconfigured and has
//   void configure(const TileShapes&)         all registers are zeros then
//   void release()                            they are as at the beginning
//   void zero<kTile>()
//   void load<kTile>(const float*, stride)    strides are words from one row of a register to the next
//   void store<kTile>(float*, stride)
//   void multiply<kSums, kRows, kColumns>()   sums += rows * columns
#pragma once

#include "backends/cpu/kernels/gemm_block.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kRegisterRows = 16, kRegisterWords = 16;
// What is multiplied at a time: two registers of A's rows by two of W's columns, in four registers of sums.
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

// For strips of so many rows. Lower registers that a strip has no rows for are not used.
inline TileShapes shapes_for(std::size_t strip_rows) {
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
  return shapes;
}

// The registers while a strip of rows is multiplied with a panel.
template <class Registers>
class StripOfTiles {
 public:
  // Shapes stay until other ones are needed: setting them takes longer than a multiplication.
  void set_rows(std::size_t rows) {
    if (rows == rows_) return;
    registers_.configure(shapes_for(rows));
    rows_ = rows;
  }
  void release() { registers_.release(); }
  void set_columns(std::size_t columns) { has_right_ = columns > kRegisterWords; }

  void clear_sums() {
    registers_.template zero<kUpperLeft>();
    if (has_right_) registers_.template zero<kUpperRight>();
    if (!has_lower()) return;
    registers_.template zero<kLowerLeft>();
    if (has_right_) registers_.template zero<kLowerRight>();
  }

  // Adds the products of `words` words of each row with as many rows of the panel. Of integers, `behind` rows that
  // follow those may be read as well.
  void add(const float* a, std::size_t a_stride, const float* panel, std::size_t words, std::size_t behind) {
    for (; words >= kRegisterWords; words -= kRegisterWords) {
      add_register(a, a_stride, panel);
      a += kRegisterWords;
      panel += kRegisterWords * kStripColumns;
    }
    if (words != 0) add_last(a, a_stride, panel, words, behind);
  }

  // Of a tile [kStripRows, kStripColumns] only the registers in use are written.
  void store_sums(float* tile) {
    registers_.template store<kUpperLeft>(tile, kStripColumns);
    if (has_right_) registers_.template store<kUpperRight>(tile + kRegisterWords, kStripColumns);
    if (!has_lower()) return;
    tile += kRegisterRows * kStripColumns;
    registers_.template store<kLowerLeft>(tile, kStripColumns);
    if (has_right_) registers_.template store<kLowerRight>(tile + kRegisterWords, kStripColumns);
  }

 private:
  bool has_lower() const { return rows_ > kRegisterRows; }

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

  // Fewer words than a register has: behind them come zeros, whose products change no sum. Shapes for them would clear
  // the sums. The panel is copied where what follows may not be read.
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
  std::size_t rows_ = 0;
  bool has_right_ = false;
};

// Adds the sums of one run in `tile`, as floats with their rows' scales, to those of the runs before it, in `total`.
inline void add_run(const GemmArguments& g, const TilePlace& place, std::size_t run, const float* HWY_RESTRICT tile,
                    float* HWY_RESTRICT total) {
  for (std::size_t row = 0; row < place.rows; ++row) {
    const FloatVector scale = hn::Set(kFloats, g.scales.row_scales[(place.row + row) * g.scales.row_stride + run]);
    for (std::size_t column = 0; column < place.columns; column += kLanes) {
      const std::size_t at = row * place.width + column;
      const FloatVector sums = hn::ConvertTo(kFloats, hn::BitCast(kLaneIntegers, hn::Load(kFloats, tile + at)));
      const FloatVector factors = run_scales(g.scales, g.n, run, place.column + column, place.columns - column);
      const FloatVector before = run == 0 ? hn::Zero(kFloats) : hn::Load(kFloats, total + at);
      hn::Store(hn::MulAdd(hn::Mul(sums, factors), scale, before), kFloats, total + at);
    }
  }
}

// The rows of a block are few enough for the second-level cache, and so is a panel: k is never in parts.
template <class Registers, WordKind kKind>
void matrix_tiles_block(const GemmBlock& block) {
  constexpr bool kIsOfIntegers = kKind == WordKind::bytes;
  const GemmArguments& g = *block.arguments;
  alignas(64) float tile[kStripRows * kStripColumns], total[kStripRows * kStripColumns];
  const FinishTile finish = find_finish<kKind>(g);
  const Strips<kStripRows> strips(g, block.row_begin, block.row_end, true);
  const auto values = strips.part(0);
  const std::size_t runs = kIsOfIntegers ? g.scales.runs : 1, run_words = values.run / runs;
  const std::size_t panels = (g.n + kStripColumns - 1) / kStripColumns;
  StripOfTiles<Registers> strip_tiles;
  for (std::size_t panel = block.panel_begin; panel < block.panel_end; ++panel) {
    const std::size_t column = panel * kStripColumns, left = g.n - column;
    const StoredColumn stored = stored_column(g, column);
    const float* packed = static_cast<const float*>(g.packed) + column * g.k;
    for (std::size_t index = 0; index < strips.count(); ++index) {
      const auto strip = strips[index];
      const TilePlace place{strip.row,     strip.rows, column, left < kStripColumns ? left : kStripColumns,
                            kStripColumns, stored};
      strip_tiles.set_rows(place.rows);
      strip_tiles.set_columns(place.columns);
      for (std::size_t run = 0; run < runs; ++run) {
        strip_tiles.clear_sums();
        for (std::size_t segment = 0; segment < values.segments; ++segment) {
          const float* from = strip.a + values.offset + values.offsets[segment] + run * run_words;
          const std::size_t first = segment * values.run + run * run_words;
          // What follows a run is the next one, or the next panel.
          const std::size_t behind = kIsOfIntegers ? (g.k - first - run_words) + (panels - panel - 1) * g.k : 0;
          strip_tiles.add(from, g.a_stride, packed + first * kStripColumns, run_words, behind);
        }
        strip_tiles.store_sums(tile);
        if constexpr (kIsOfIntegers) add_run(g, place, run, tile, total);
      }
      if (kIsOfIntegers) add_offsets_before_last(g, place, total);
      finish(g, place, kIsOfIntegers ? total : tile);
    }
  }
  strip_tiles.release();
}

template <class Registers, WordKind kKind>
GemmKernel matrix_tiles_kernel() {
  return {kKind, kStripColumns, kStripRows, matrix_tiles_block<Registers, kKind>, sum_rows};
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
