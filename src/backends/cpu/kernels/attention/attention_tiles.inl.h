// Attention of attention.h with bf16 products in AMX tile registers: queries, keys, values and softmax weights are
// rounded to bf16, sums are f32. For AVX-512 with BF16.
//
// Scores of 32 keys by 32 queries, and results of 32 values by 32 queries, are four registers of sums. Queries and
// weights are laid out as column operands: word j of a query has two of its numbers, word p of the weights those of
// keys 2p and 2p + 1. Keys are rows of words, and values are transposed: one row of all keys per value.
#pragma once

#include "backends/cpu/kernels/attention/attention_shorts.inl.h"
#include "backends/cpu/kernels/gemm/amx_tiles.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

/// Rounds two vectors to words of bf16, `low` in the low halves. Subnormals become zeros, as in the products.
HWY_INLINE WordVector words_of_bf16(FloatVector low, FloatVector high) {
  alignas(64) static constexpr std::uint16_t kPlaces[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                            21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                            11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  __m512i both;
  __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(high.raw), "v"(low.raw));  // see gemm_avx512_bf16.cpp
  return WordVector{_mm512_permutexvar_epi16(_mm512_load_si512(kPlaces), both)};
}

/// 2^t for t <= 0, relative error 2^-13, less than that of bf16; 0 for -infinity.
HWY_INLINE FloatVector tile_exp2(FloatVector t) {
  constexpr float kCoefficients[] = {0.07802452f, 0.22606716f, 0.69583353f, 0.99992522f};
  return exp2_with(kCoefficients, t);
}

/// Numbers [first, first + lanes) of a row of `size`, times a factor; zeros past its end.
HWY_INLINE FloatVector scaled_numbers(const float* row, std::size_t first, std::size_t size, FloatVector factor) {
  const FloatTag d;
  if (first >= size) return hn::Zero(d);
  const std::size_t count = size - first;
  return hn::Mul(count < hn::Lanes(d) ? load_first(d, row + first, count) : hn::LoadU(d, row + first), factor);
}

/// Word j of a row of `words` words holds the numbers j and j + half; a row has 2 half numbers or one less.
inline void round_rows_to_words(const float* HWY_RESTRICT from, std::size_t stride, std::size_t count, std::size_t size,
                                float factor, std::size_t words, float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t half = (size + 1) / 2;
  const FloatVector factors = hn::Set(d, factor);
  for (std::size_t row = 0; row < count; ++row, from += stride, to += words) {
    for (std::size_t j = 0; j < words; j += hn::Lanes(d)) {
      const FloatVector low = scaled_numbers(from, j, half, factors),
                        high = scaled_numbers(from, half + j, size, factors);
      hn::Store(hn::BitCast(d, words_of_bf16(low, high)), d, to + j);
    }
  }
}

class TileProducts {
 public:
  static constexpr std::size_t kParts = 2, kKeyWords = kRegisterWords, kValues = kRegisterRows;
  static constexpr std::size_t kKeysAtOnce = kStripRows, kValuesAtOnce = kStripRows;

  void end() { tiles_.release(); }

  void pack_queries(const AttentionArguments& a, const AttentionScratch& s, const float* q, std::size_t count,
                    std::size_t columns, float* block) const {
    const std::size_t lanes = hn::Lanes(kWords);
    float* rows = s.scores;  // the scores' memory is still unused
    round_rows_to_words(q, a.q_stride, count, a.head_size, a.scale, s.key_width, rows);
    fill_rows(rows + count * s.key_width, columns - count, s.key_width, s.key_width, 0);
    auto* queries = reinterpret_cast<std::int32_t*>(s.queries_of(block));
    const auto* words = reinterpret_cast<const std::int32_t*>(rows);
    for (std::size_t i = 0; i < columns; i += lanes) {
      for (std::size_t j = 0; j < s.key_width; j += lanes) {
        const auto load = [&](std::size_t row)
                              HWY_ATTR { return hn::Load(kWords, words + (i + row) * s.key_width + j); };
        const auto store = [&](std::size_t column, WordVector v)
                               HWY_ATTR { hn::Store(v, kWords, queries + (j + column) * s.width + i); };
        transpose_square(kWords, load, store);
      }
    }
  }

  void pack_tile(const AttentionScratch& s, const HeadRows& k, const HeadRows& v, std::size_t first, std::size_t keys,
                 std::size_t /*unseen*/) {
    round_rows_to_words(k.floats(first), k.source.stride, keys, k.size, 1, s.key_width, s.keys);
    fill_rows(s.keys + keys * s.key_width, round_up(keys, kRegisterRows) - keys, s.key_width, s.key_width, 0);
    pack_values(s, v, first, keys);
    keys_ = keys;
  }

  template <std::size_t kVectors>
  HWY_INLINE void score(const AttentionScratch& s, std::size_t key, float* block) const {
    set_size<kVectors>(keys_ - key);
    tiles_.clear_sums();
    add(s.keys + key * s.key_width, s.key_width, s.queries_of(block), s.key_width);
    tiles_.store_sums(s.scores + key * s.width, kStripColumns);
  }

  /// Writes the weights of keys 2i and 2i + 1 as words of row i, in place: no row that is still to be read lies there.
  /// Zero-pads to a multiple of a register's rows.
  template <std::size_t kVectors>
  HWY_INLINE void weigh(const AttentionScratch& s, std::size_t keys, SoftmaxState<kVectors>& state) const {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d), width = s.width;
    const FloatVector log2e = hn::Set(d, kLog2E);
    const auto weight_of = [&](std::size_t key, std::size_t c) HWY_ATTR {
      const FloatVector score = hn::Load(d, s.scores + key * width + c * lanes);
      const FloatVector weight = tile_exp2(hn::Mul(hn::Sub(score, state.greatest[c]), log2e));
      state.sum[c] = hn::Add(state.sum[c], weight);
      return weight;
    };
    const auto store = [&](std::size_t pair, std::size_t c, WordVector words)
                           HWY_ATTR { hn::Store(hn::BitCast(d, words), d, s.scores + pair * width + c * lanes); };
    std::size_t key = 0;
    for (; key + 2 <= keys; key += 2) {
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
        const FloatVector low = weight_of(key, c);
        store(key / 2, c, words_of_bf16(low, weight_of(key + 1, c)));
      }
    }
    for (std::size_t c = 0; key < keys && c < kVectors; ++c)
      store(key / 2, c, words_of_bf16(weight_of(key, c), hn::Zero(d)));
    for (std::size_t pair = (keys + 1) / 2; pair % kRegisterWords != 0; ++pair) {
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) store(pair, c, hn::Zero(kWords));
    }
  }

  template <std::size_t kVectors>
  HWY_INLINE void add_values(const AttentionScratch& s, std::size_t i, std::size_t keys, float* result,
                             const float* factors) const {
    const FloatTag d;
    const std::size_t rows = s.value_width - i < kStripRows ? s.value_width - i : kStripRows;
    set_size<kVectors>(rows);
    float* to = result + i * s.width;
    if (factors == nullptr) {
      tiles_.clear_sums();
    } else {
      for (std::size_t row = 0; row < rows; ++row) {
        HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
          float* at = to + row * s.width + c * hn::Lanes(d);
          hn::Store(hn::Mul(hn::Load(d, at), hn::Load(d, factors + c * hn::Lanes(d))), d, at);
        }
      }
      tiles_.load_sums(to, kStripColumns);
    }
    add(s.values + i * kPairs, kPairs, s.scores, round_up((keys + 1) / 2, kRegisterWords));
    tiles_.store_sums(to, kStripColumns);
  }

 private:
  static constexpr std::size_t kPairs = kAttentionKeys / 2;  // pairs of keys: the stride between rows of values
  static_assert(kQueryVectors * kLanes == kStripColumns);    // so that tiles lie in the scores and the result

  /// Registers are full: rows are padded to a multiple of theirs.
  template <std::size_t kVectors>
  HWY_INLINE void set_size(std::size_t rows) const {
    tiles_.set_rows(rows > kRegisterRows ? kStripRows : kRegisterRows);
    tiles_.set_columns(kVectors * kLanes);
  }

  HWY_INLINE void add(const float* rows, std::size_t stride, const float* columns, std::size_t words) const {
    tiles_.add(rows, stride, columns, words, 0, [] {});
  }

  /// Word [i, p] holds number i of the values of keys 2p and 2p + 1; zeros past the last key.
  void pack_values(const AttentionScratch& s, const HeadRows& rows, std::size_t first, std::size_t keys) const {
    const std::size_t lanes = hn::Lanes(kWords);
    const float* v = rows.floats(first);
    const FloatVector ones = hn::Set(FloatTag(), 1.0f);
    auto* to = reinterpret_cast<std::int32_t*>(s.values);
    for (std::size_t pair = 0; pair < (keys + 1) / 2; pair += lanes) {
      for (std::size_t i = 0; i < s.value_width; i += lanes) {
        const auto values = [&](std::size_t key) HWY_ATTR {
          return key < keys ? scaled_numbers(v + key * rows.source.stride, i, rows.size, ones) : hn::Zero(FloatTag());
        };
        const auto load = [&](std::size_t row) HWY_ATTR {
          const std::size_t key = 2 * (pair + row);
          return words_of_bf16(values(key), values(key + 1));
        };
        const auto store = [&](std::size_t column, WordVector words)
                               HWY_ATTR { hn::Store(words, kWords, to + (i + column) * kPairs + pair); };
        transpose_square(kWords, load, store);
      }
    }
  }

  mutable StripOfTiles<Bf16Tiles> tiles_{kRegisterWords};
  std::size_t keys_ = 0;  // of the tile
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
