// The kernels of block_product.h, for the one instruction set that the including file is compiled for; everything here
// has internal linkage. A Dot multiplies bytes: add_pair<kIsWide> adds to each lane the products of two words of four
// unsigned bytes (at most 127 unless kIsWide) with two words of signed ones from -127 to 127.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "backends/cpu/kernels/blocks/block_kernels.h"
#include "backends/cpu/kernels/gemm/gemm_finish.inl.h"
#include "tensor/ggml_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

using LaneIntegers = hn::Vec<decltype(kLaneIntegers)>;
constexpr hn::Repartition<std::uint8_t, FloatTag> kBytes;
constexpr hn::Repartition<std::uint16_t, FloatTag> kShorts;
using ByteVector = hn::Vec<decltype(kBytes)>;

constexpr std::size_t kPlaneBytes = kBlockPanel * 4;         // a word of each column
constexpr std::size_t kBlockVectors = kBlockPanel / kLanes;  // of a panel
constexpr std::size_t kVectorBytes = kLanes * 4;

// The word at `at` in all lanes.
HWY_INLINE LaneIntegers word_at(const std::byte* at) { return broadcast_word(reinterpret_cast<const float*>(at)); }

// The bits of `mask` at kFrom in each byte, moved to kPlace.
template <int kFrom, int kPlace>
HWY_INLINE ByteVector moved_bits(ByteVector bytes, std::uint8_t mask) {
  const auto wide = hn::BitCast(kShorts, bytes);
  ByteVector moved = bytes;
  if constexpr (kFrom > kPlace) moved = hn::BitCast(kBytes, hn::ShiftRight<kFrom - kPlace>(wide));
  if constexpr (kFrom < kPlace) moved = hn::BitCast(kBytes, hn::ShiftLeft<kPlace - kFrom>(wide));
  return hn::And(moved, hn::Set(kBytes, static_cast<std::uint8_t>(mask << kPlace)));
}

HWY_INLINE ByteVector plane_at(const std::byte* planes, std::size_t index) {
  return hn::LoadU(kBytes, reinterpret_cast<const std::uint8_t*>(planes + index * kPlaneBytes));
}

// Where the planes of two bits and of one bit begin, in planes, and the lowest bit that each adds.
template <BlockForm kForm>
struct Planes {
  static constexpr std::size_t kFours = kForm.bits == 8 || kForm.bits < 4 ? 0 : 4;
  static constexpr bool kHasTwos = kForm.bits != 8 && (kForm.bits & 2) != 0, kHasOnes = (kForm.bits & 1) != 0;
  static constexpr int kTwosPlace = kFours == 0 ? 0 : 4;
  static constexpr std::size_t kOnes = kFours + (kHasTwos ? 2 : 0);
  static constexpr int kOnesPlace = kTwosPlace + (kHasTwos ? 2 : 0);
};

// Word kWord of a part, of the lanes that `planes` begins with.
template <BlockForm kForm, std::size_t kWord>
HWY_INLINE ByteVector unpacked_word(const std::byte* planes) {
  using P = Planes<kForm>;
  if constexpr (kForm.bits == 8) {
    return plane_at(planes, kWord);
  } else {
    ByteVector word = hn::Zero(kBytes);
    if constexpr (P::kFours != 0) word = moved_bits<kWord / 4 * 4, 0>(plane_at(planes, kWord % 4), 15);
    if constexpr (P::kHasTwos)
      word = hn::Or(
          word, moved_bits<static_cast<int>(kWord % 4 * 2), P::kTwosPlace>(plane_at(planes, P::kFours + kWord / 4), 3));
    if constexpr (P::kHasOnes)
      word = hn::Or(word, moved_bits<static_cast<int>(kWord), P::kOnesPlace>(plane_at(planes, P::kOnes), 1));
    if constexpr (kForm.is_looked_up) {
      static constexpr auto kTable = std::to_array(tensor::kNonlinear4);
      const auto table = hn::LoadDup128(kBytes, reinterpret_cast<const std::uint8_t*>(&kTable));
      word = hn::Xor(hn::TableLookupBytes(table, word), hn::Set(kBytes, std::uint8_t{128}));
    }
    return word;
  }
}

template <BlockForm kForm>
HWY_INLINE void unpack_words(const std::byte* planes, ByteVector (&words)[kPartWords]) {
  words[0] = unpacked_word<kForm, 0>(planes);
  words[1] = unpacked_word<kForm, 1>(planes);
  words[2] = unpacked_word<kForm, 2>(planes);
  words[3] = unpacked_word<kForm, 3>(planes);
  words[4] = unpacked_word<kForm, 4>(planes);
  words[5] = unpacked_word<kForm, 5>(planes);
  words[6] = unpacked_word<kForm, 6>(planes);
  words[7] = unpacked_word<kForm, 7>(planes);
}

HWY_INLINE FloatVector halves_at(const std::byte* at) {
  const hn::Rebind<hwy::float16_t, FloatTag> half;
  return hn::PromoteTo(kFloats, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(at)));
}
HWY_INLINE FloatVector signed_bytes_at(const std::byte* at) {
  const hn::Rebind<std::int8_t, FloatTag> narrow;
  return hn::ConvertTo(kFloats,
                       hn::PromoteTo(kLaneIntegers, hn::LoadU(narrow, reinterpret_cast<const std::int8_t*>(at))));
}

// Reads the scales and minima of a run, for the vector of columns that begins at `first`.
template <BlockForm kForm>
class RunScales {
 public:
  HWY_INLINE RunScales(const std::byte* scales, std::size_t first) : scales_(scales), first_(first) {
    if constexpr (!kForm.has_run_scale) return;
    scale_ = halves_at(scales + first * 2);
    if constexpr (kForm.has_minimum) minimum_ = halves_at(scales + kHalves + first * 2);
  }
  HWY_INLINE FloatVector scale(std::size_t group) const {
    if constexpr (kForm.has_run_scale) return hn::Mul(scale_, signed_bytes_at(bytes_of(group)));
    return halves_at(scales_ + group * kSets * kHalves + first_ * 2);
  }
  HWY_INLINE FloatVector minimum(std::size_t group) const {
    if constexpr (kForm.has_run_scale) return hn::Mul(minimum_, signed_bytes_at(bytes_of(group) + kBlockPanel));
    return halves_at(scales_ + (group * kSets + 1) * kHalves + first_ * 2);
  }

 private:
  static constexpr std::size_t kSets = kForm.has_minimum ? 2 : 1, kHalves = kBlockPanel * 2;
  HWY_INLINE const std::byte* bytes_of(std::size_t group) const {
    return scales_ + kSets * kHalves + group * kSets * kBlockPanel + first_;
  }

  const std::byte* scales_;
  std::size_t first_;
  FloatVector scale_ = hn::Zero(kFloats), minimum_ = hn::Zero(kFloats);
};

// A row of A as integers.
struct IntegerRow {
  const std::byte *values, *scales, *negated_sums;

  HWY_INLINE LaneIntegers word(std::size_t index) const { return word_at(values + index * 4); }
  HWY_INLINE FloatVector scale(std::size_t part) const { return hn::BitCast(kFloats, word_at(scales + part * 4)); }
  HWY_INLINE LaneIntegers negated_sum(std::size_t group) const { return word_at(negated_sums + group * 4); }
};

template <std::size_t kGroup>
HWY_INLINE IntegerRow integer_row(const BlockTask& task, std::size_t row) {
  const std::size_t k = task.product->product.k;
  const std::byte* from = task.integers + row * integer_row_bytes(k, kGroup);
  return {from, from + k, from + k + k / kBlockPart * 4};
}

constexpr int log2_of(std::size_t power) { return power <= 1 ? 0 : 1 + log2_of(power / 2); }

// A group's integers become its part of the result: `sum` times the scale, less the minimum times the sum of A's.
template <bool kHasMinimum>
HWY_INLINE FloatVector scaled_sum(LaneIntegers sum, FloatVector scale, FloatVector minimum, LaneIntegers negated_sum) {
  const FloatVector part = hn::Mul(hn::ConvertTo(kFloats, sum), scale);
  if constexpr (!kHasMinimum) return part;
  return hn::MulAdd(minimum, hn::ConvertTo(kFloats, negated_sum), part);
}

HWY_INLINE std::size_t parts_of_run(std::size_t k, std::size_t first) {
  return (k - first < kBlockRun ? k - first : kBlockRun) / kBlockPart;
}

// One row of A: the weights go from memory to registers, once.
template <class Dot, BlockForm kForm>
HWY_NOINLINE void multiply_row(const std::byte* panel, const IntegerRow& row, std::size_t k, float* HWY_RESTRICT out) {
  constexpr std::size_t kGroups = kBlockPart / kForm.group, kWords = kPartWords / kGroups;
  constexpr bool kIsWide = kForm.bits == 8 || kForm.is_looked_up;
  // Bytes of weights that are fetched early. Types of a few bits take longer to unpack than to arrive, and want them in
  // the nearest cache; those of 8 bits would be there too early.
  constexpr std::size_t kAhead = kForm.bits == 8 ? 16384 : kForm.has_minimum ? 2304 : 3456;
  constexpr int kCache = kForm.bits == 8 ? 2 : 3;
  FloatVector sums[kBlockVectors];
  HWY_UNROLL(4) for (std::size_t v = 0; v < kBlockVectors; ++v) sums[v] = hn::Zero(kFloats);
  for (std::size_t first = 0; first < k; first += kBlockRun) {
    const std::size_t parts = parts_of_run(k, first);
    const std::byte* const scales_at = panel + parts * kForm.part_bytes();
    HWY_UNROLL(4) for (std::size_t v = 0; v < kBlockVectors; ++v) {
      const RunScales<kForm> scales(scales_at, v * kLanes);
      for (std::size_t part = 0; part < parts; ++part) {
        const std::byte* planes = panel + part * kForm.part_bytes() + v * kVectorBytes;
        if (v == 0) {
          for (std::size_t at = 0; at < kForm.part_bytes(); at += kCacheLine)
            __builtin_prefetch(planes + kAhead + at, 0, kCache);
        }
        ByteVector words[kPartWords];
        unpack_words<kForm>(planes, words);
        const std::size_t place = first / kBlockPart + part;
        const FloatVector row_scale = row.scale(place);
        HWY_UNROLL(2) for (std::size_t group = 0; group < kGroups; ++group) {
          const LaneIntegers negated = row.negated_sum(place * kGroups + group);
          LaneIntegers sum = hn::Zero(kLaneIntegers);
          if constexpr (kForm.zero != 0 && !(kIsWide && Dot::kTakesSigned))
            sum = hn::ShiftLeft<log2_of(kForm.zero)>(negated);
          HWY_UNROLL(4)
          for (std::size_t w = group * kWords; w < (group + 1) * kWords; w += 2)
            sum = Dot::template add_pair<kIsWide>(sum, words[w], row.word(place * kPartWords + w), words[w + 1],
                                                  row.word(place * kPartWords + w + 1));
          FloatVector minimum = hn::Zero(kFloats);
          if constexpr (kForm.has_minimum) minimum = scales.minimum(part * kGroups + group);
          sums[v] =
              hn::MulAdd(scaled_sum<kForm.has_minimum>(sum, scales.scale(part * kGroups + group), minimum, negated),
                         row_scale, sums[v]);
        }
      }
    }
    panel += kForm.run_bytes(parts);
  }
  HWY_UNROLL(4) for (std::size_t v = 0; v < kBlockVectors; ++v) hn::Store(sums[v], kFloats, out + v * kLanes);
}

// Integers of some parts of a panel, with scales and minima.
struct UnpackedPanel {
  std::uint8_t* words;     // [part][word][column][4]
  float *scales, *minima;  // [group][column]
};

template <BlockForm kForm>
HWY_NOINLINE void unpack_run_integers(const std::byte* run, std::size_t parts, std::size_t first_part,
                                      const UnpackedPanel& to) {
  constexpr std::size_t kGroups = kBlockPart / kForm.group;
  const std::byte* const scales_at = run + parts * kForm.part_bytes();
  HWY_UNROLL(4) for (std::size_t v = 0; v < kBlockVectors; ++v) {
    const RunScales<kForm> scales(scales_at, v * kLanes);
    for (std::size_t part = 0; part < parts; ++part) {
      ByteVector words[kPartWords];
      unpack_words<kForm>(run + part * kForm.part_bytes() + v * kVectorBytes, words);
      std::uint8_t* out = to.words + (first_part + part) * kPartWords * kPlaneBytes + v * kVectorBytes;
      HWY_UNROLL(8) for (std::size_t w = 0; w < kPartWords; ++w) hn::Store(words[w], kBytes, out + w * kPlaneBytes);
      HWY_UNROLL(2) for (std::size_t group = 0; group < kGroups; ++group) {
        const std::size_t at = ((first_part + part) * kGroups + group) * kBlockPanel + v * kLanes;
        hn::Store(scales.scale(part * kGroups + group), kFloats, to.scales + at);
        if constexpr (kForm.has_minimum) hn::Store(scales.minimum(part * kGroups + group), kFloats, to.minima + at);
      }
    }
  }
}

// Some rows times the unpacked parts [first_part, first_part + parts), for one vector of columns: adds to `sums`, rows
// kBlockPanel apart.
template <class Dot, std::size_t kGroups, bool kHasMinimum, bool kIsWide, std::size_t kRows>
HWY_NOINLINE void multiply_strip(const UnpackedPanel& panel, std::size_t v, const IntegerRow* rows, std::size_t zero,
                                 std::size_t first_part, std::size_t parts, float* HWY_RESTRICT sums_at) {
  constexpr std::size_t kWords = kPartWords / kGroups;
  FloatVector sums[kRows];
  HWY_UNROLL(16) for (std::size_t r = 0; r < kRows; ++r) sums[r] = hn::Load(kFloats, sums_at + r * kBlockPanel);
  const std::uint8_t* words = panel.words + v * kVectorBytes;
  const float *scales = panel.scales + v * kLanes, *minima = panel.minima + v * kLanes;
  const int shift = log2_of(zero);
  for (std::size_t part = first_part; part < first_part + parts; ++part) {
    for (std::size_t group = 0; group < kGroups; ++group) {
      LaneIntegers integers[kRows];
      HWY_UNROLL(16) for (std::size_t r = 0; r < kRows; ++r) {
        integers[r] = hn::Zero(kLaneIntegers);
        if constexpr (!kHasMinimum && !(kIsWide && Dot::kTakesSigned))
          integers[r] = hn::ShiftLeftSame(rows[r].negated_sum(part * kGroups + group), shift);
      }
      HWY_UNROLL(4) for (std::size_t w = 0; w < kWords; w += 2) {
        const ByteVector one = hn::Load(kBytes, words + w * kPlaneBytes);
        const ByteVector other = hn::Load(kBytes, words + (w + 1) * kPlaneBytes);
        const std::size_t at = part * kPartWords + group * kWords + w;
        HWY_UNROLL(16)
        for (std::size_t r = 0; r < kRows; ++r)
          integers[r] =
              Dot::template add_pair<kIsWide>(integers[r], one, rows[r].word(at), other, rows[r].word(at + 1));
      }
      const FloatVector scale = hn::Load(kFloats, scales);
      const FloatVector minimum = kHasMinimum ? hn::Load(kFloats, minima) : hn::Zero(kFloats);
      HWY_UNROLL(16) for (std::size_t r = 0; r < kRows; ++r) {
        LaneIntegers negated = hn::Zero(kLaneIntegers);
        if constexpr (kHasMinimum) negated = rows[r].negated_sum(part * kGroups + group);
        sums[r] =
            hn::MulAdd(scaled_sum<kHasMinimum>(integers[r], scale, minimum, negated), rows[r].scale(part), sums[r]);
      }
      words += kWords * kPlaneBytes;
      scales += kBlockPanel;
      minima += kBlockPanel;
    }
  }
  HWY_UNROLL(16) for (std::size_t r = 0; r < kRows; ++r) hn::Store(sums[r], kFloats, sums_at + r * kBlockPanel);
}

// Heights of strips, tallest first; the tallest has its sums in registers twice.
constexpr std::size_t kTallest = kLanes == 16 ? 12 : 4;

template <class Dot, BlockForm kForm>
HWY_INLINE void multiply_strips(const UnpackedPanel& panel, const IntegerRow* rows, std::size_t count,
                                std::size_t first_part, std::size_t parts, float* sums) {
  constexpr std::size_t kGroups = kBlockPart / kForm.group;
  constexpr bool kIsWide = kForm.bits == 8 || kForm.is_looked_up;
  const auto strip = [&]<std::size_t kRows>(std::size_t row) HWY_ATTR {
    for (std::size_t v = 0; v < kBlockVectors; ++v)
      multiply_strip<Dot, kGroups, kForm.has_minimum, kIsWide, kRows>(panel, v, rows + row, kForm.zero, first_part,
                                                                      parts, sums + row * kBlockPanel + v * kLanes);
  };
  std::size_t row = 0;
  for (; row + kTallest <= count; row += kTallest) strip.template operator()<kTallest>(row);
  if constexpr (kTallest > 8) {
    for (; row + 8 <= count; row += 8) strip.template operator()<8>(row);
  }
  if constexpr (kTallest > 4) {
    for (; row + 4 <= count; row += 4) strip.template operator()<4>(row);
  }
  for (; row + 2 <= count; row += 2) strip.template operator()<2>(row);
  if (row < count) strip.template operator()<1>(row);
}

// All rows of the task times one panel.
template <class Dot, BlockForm kForm>
HWY_INLINE void multiply_integers(const BlockTask& task, const std::byte* panel, const IntegerRow* rows,
                                  float* HWY_RESTRICT sums) {
  const std::size_t count = task.row_end - task.row_begin, k = task.product->product.k;
  if (count == 1) return multiply_row<Dot, kForm>(panel, rows[0], k, sums);
  UnpackedPanel unpacked;
  unpacked.words = reinterpret_cast<std::uint8_t*>(task.scratch);
  unpacked.scales = task.scratch + kUnpackedIntegers / 4 * kBlockPanel;
  unpacked.minima = unpacked.scales + kUnpackedIntegers / 16 * kBlockPanel;
  for (std::size_t i = 0; i < count * kBlockPanel; i += kLanes) hn::Store(hn::Zero(kFloats), kFloats, sums + i);
  for (std::size_t first = 0; first < k; first += kUnpackedIntegers) {
    const std::size_t end = k - first < kUnpackedIntegers ? k : first + kUnpackedIntegers;
    for (std::size_t at = first; at < end; at += kBlockRun) {
      const std::size_t parts = parts_of_run(k, at);
      unpack_run_integers<kForm>(panel, parts, (at - first) / kBlockPart, unpacked);
      panel += kForm.run_bytes(parts);
    }
    multiply_strips<Dot, kForm>(unpacked, rows, count, first / kBlockPart, (end - first) / kBlockPart, sums);
  }
}

// W's values, [k][column], exactly as tensor::dequantize gives them.
template <BlockForm kForm>
HWY_NOINLINE void unpack_run_floats(const std::byte* run, std::size_t parts, float* HWY_RESTRICT to) {
  constexpr std::size_t kGroups = kBlockPart / kForm.group, kWords = kPartWords / kGroups;
  constexpr hn::RebindToUnsigned<FloatTag> kLaneBits;
  const std::byte* const scales_at = run + parts * kForm.part_bytes();
  const FloatVector zero = hn::Set(kFloats, static_cast<float>(kForm.zero));
  HWY_UNROLL(4) for (std::size_t v = 0; v < kBlockVectors; ++v) {
    const RunScales<kForm> scales(scales_at, v * kLanes);
    for (std::size_t part = 0; part < parts; ++part) {
      ByteVector words[kPartWords];
      unpack_words<kForm>(run + part * kForm.part_bytes() + v * kVectorBytes, words);
      float* out = to + part * kBlockPart * kBlockPanel + v * kLanes;
      HWY_UNROLL(8) for (std::size_t w = 0; w < kPartWords; ++w) {
        const std::size_t group = part * kGroups + w / kWords;
        const FloatVector scale = scales.scale(group);
        const FloatVector minimum = kForm.has_minimum ? scales.minimum(group) : zero;
        const auto put = [&](hn::Vec<decltype(kLaneBits)> integers, std::size_t place) HWY_ATTR {
          const auto low = hn::And(integers, hn::Set(kLaneBits, 255U));
          const FloatVector value = hn::ConvertTo(kFloats, hn::BitCast(kLaneIntegers, low));
          const FloatVector weight =
              kForm.has_minimum ? hn::Sub(hn::Mul(scale, value), minimum) : hn::Mul(scale, hn::Sub(value, minimum));
          hn::Store(weight, kFloats, out + (w * 4 + place) * kBlockPanel);
        };
        const auto bits = hn::BitCast(kLaneBits, words[w]);
        put(bits, 0);
        put(hn::ShiftRight<8>(bits), 1);
        put(hn::ShiftRight<16>(bits), 2);
        put(hn::ShiftRight<24>(bits), 3);
      }
    }
  }
}

template <std::size_t kRows>
HWY_NOINLINE void multiply_float_strip(const float* panel, const float* x, std::size_t stride, std::size_t k,
                                       float* HWY_RESTRICT sums_at) {
  for (std::size_t v = 0; v < kBlockVectors; ++v) {
    FloatVector sums[kRows];
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < kRows; ++r) sums[r] = hn::Load(kFloats, sums_at + r * kBlockPanel + v * kLanes);
    for (std::size_t i = 0; i < k; ++i) {
      const FloatVector weights = hn::Load(kFloats, panel + i * kBlockPanel + v * kLanes);
      HWY_UNROLL(16)
      for (std::size_t r = 0; r < kRows; ++r)
        sums[r] = add_product(sums[r], hn::Set(kFloats, x[r * stride + i]), weights);
    }
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < kRows; ++r) hn::Store(sums[r], kFloats, sums_at + r * kBlockPanel + v * kLanes);
  }
}

template <BlockForm kForm>
HWY_INLINE void multiply_floats(const BlockTask& task, const std::byte* panel, float* HWY_RESTRICT sums) {
  const GemmArguments& g = task.product->product;
  const std::size_t count = task.row_end - task.row_begin;
  for (std::size_t i = 0; i < count * kBlockPanel; i += kLanes) hn::Store(hn::Zero(kFloats), kFloats, sums + i);
  static_assert(kUnpackedFloats == kBlockRun);
  for (std::size_t first = 0; first < g.k; first += kBlockRun) {
    const std::size_t parts = parts_of_run(g.k, first);
    unpack_run_floats<kForm>(panel, parts, task.scratch);
    panel += kForm.run_bytes(parts);
    const float* x = static_cast<const float*>(g.a) + task.row_begin * g.a_stride + first;
    std::size_t row = 0;
    for (; row + 8 <= count; row += 8)
      multiply_float_strip<8>(task.scratch, x + row * g.a_stride, g.a_stride, parts * kBlockPart,
                              sums + row * kBlockPanel);
    for (; row < count; ++row)
      multiply_float_strip<1>(task.scratch, x + row * g.a_stride, g.a_stride, parts * kBlockPart,
                              sums + row * kBlockPanel);
  }
}

template <class Dot, BlockForm kForm>
void multiply_panels(const BlockTask& task) {
  const GemmArguments& g = task.product->product;
  const std::size_t count = task.row_end - task.row_begin;
  float* const sums = task.scratch + kBlockTaskScratch - kBlockTaskRows * kBlockPanel;
  IntegerRow rows[kBlockTaskRows];
  if (task.integers != nullptr) {
    for (std::size_t row = 0; row < count; ++row) rows[row] = integer_row<kForm.group>(task, task.row_begin + row);
  }
  const FinishTile finish = find_finish<WordKind::f32, TileSums::floats>(g);
  for (std::size_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    const auto* packed = static_cast<const std::byte*>(g.packed) + panel * kForm.panel_bytes(g.k);
    if (task.integers != nullptr)
      multiply_integers<Dot, kForm>(task, packed, rows, sums);
    else
      multiply_floats<kForm>(task, packed, sums);
    const std::size_t column = panel * kBlockPanel, left = g.n - column;
    finish(
        g,
        {task.row_begin, count, column, left < kBlockPanel ? left : kBlockPanel, kBlockPanel, stored_column(g, column)},
        sums);
  }
}

template <class Dot, std::size_t... kKinds>
void multiply_block_task_of(const BlockTask& task, std::index_sequence<kKinds...>) {
  const auto attempt = [&]<std::size_t kKind>() {
    constexpr std::optional<BlockForm> kForm = block_form(static_cast<tensor::EncodingKind>(kKind));
    if constexpr (kForm) {
      if (task.product->kind == static_cast<tensor::EncodingKind>(kKind)) {
        multiply_panels<Dot, *kForm>(task);
        return true;
      }
    }
    return false;
  };
  (void)(attempt.template operator()<kKinds>() || ...);
}

template <class Dot>
void multiply_block_task(const BlockTask& task) {
  multiply_block_task_of<Dot>(task, std::make_index_sequence<static_cast<std::size_t>(tensor::kLastEncoding) + 1>());
}

// Rounds one row; see BlockKernels.
inline void quantize_block_row(const float* x, std::size_t k, std::size_t group, std::byte* row) {
  constexpr float kMost = 127, kLeastScale = 1e-20F;
  auto* values = reinterpret_cast<std::int8_t*>(row);
  std::byte *scales = row + k, *sums = scales + k / kBlockPart * 4;
  constexpr hn::Rebind<std::int8_t, FloatTag> kNarrow;
  constexpr hn::Rebind<std::int16_t, FloatTag> kMiddle;
  for (std::size_t part = 0; part < k / kBlockPart; ++part, x += kBlockPart, values += kBlockPart) {
    // nothing is NaN if a number is not finite, else 0.
    FloatVector largest = hn::Zero(kFloats), nothing = hn::Zero(kFloats);
    for (std::size_t i = 0; i < kBlockPart; i += kLanes) {
      const FloatVector numbers = hn::LoadU(kFloats, x + i);
      largest = hn::Max(largest, hn::Abs(numbers));
      nothing = hn::MulAdd(numbers, hn::Zero(kFloats), nothing);
    }
    const float most = hn::GetLane(hn::MaxOfLanes(kFloats, largest)) / kMost;
    const float step = most > kLeastScale ? most : kLeastScale;
    const float scale = step + hn::GetLane(hn::SumOfLanes(kFloats, nothing));
    std::memcpy(scales + part * 4, &scale, sizeof scale);
    const FloatVector inverse = hn::Set(kFloats, 1 / step);
    for (std::size_t begin = 0; begin < kBlockPart; begin += group) {
      LaneIntegers sum = hn::Zero(kLaneIntegers);
      for (std::size_t i = begin; i < begin + group; i += kLanes) {
        const auto whole = hn::NearestInt(hn::Mul(hn::LoadU(kFloats, x + i), inverse));
        sum = hn::Add(sum, whole);
        hn::StoreU(hn::DemoteTo(kNarrow, hn::DemoteTo(kMiddle, whole)), kNarrow, values + i);
      }
      const std::int32_t negated = hn::GetLane(hn::Neg(hn::SumOfLanes(kLaneIntegers, sum)));  // wraps
      std::memcpy(sums, &negated, sizeof negated);
      sums += 4;
    }
  }
}

template <class Dot>
BlockKernels make_block_kernels() {
  return {quantize_block_row, multiply_block_task<Dot>};
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
