// Attention of attention.h with products of shorts: VNNI multiplies twice as many at a time as floats.
//
// The queries of a block and the keys of a tile are quantized symmetrically, with as many steps as sums of products
// allow without overflow: for heads of 64, 5,792 on either side of zero. Softmax weights, which are at most 1, are
// rounded to multiples of 2^-14, and the values of a tile to 2,047 steps on either side. Blocks and tiles are aligned
// to the sequence's start, so that a result depends, as with floats, only on the sequence.
#pragma once

#include "backends/cpu/kernels/attention/attention.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr hn::RebindToSigned<FloatTag> kWords;
using WordVector = hn::Vec<decltype(kWords)>;

constexpr std::size_t kPairsOfRun = 32;  // pairs of keys whose products are summed as integers
constexpr float kWeightSteps = 16384;    // 2 * kPairsOfRun * kWeightSteps * kValueSteps is below 2^31
constexpr float kValueSteps = 2047;
static_assert(2.0 * kPairsOfRun * kWeightSteps * kValueSteps < 2147483648.0);

/// Steps of queries and keys on either side of zero, such that `head_size` products sum to less than 2^31.
inline float steps_of_products(std::size_t head_size) {
  const float most = __builtin_floorf(__builtin_sqrtf(2147483000.0f / static_cast<float>(head_size)));
  return most < 32767.0f ? most : 32767.0f;
}

/// A quantization step, and its inverse, for numbers up to a magnitude. If the magnitude is not finite, the step is
/// NaN, which propagates to the result.
struct ShortSteps {
  float step, inverse;

  ShortSteps(float magnitude, float steps) {
    constexpr float kLeast = 1e-30f;
    const float range = magnitude > kLeast ? magnitude : kLeast;
    const bool is_finite = magnitude < __builtin_inff();
    step = is_finite ? range / steps : __builtin_nanf("");
    inverse = is_finite ? steps / range : 0.0f;
  }
};

/// The greatest magnitude in some rows, compared as bits: those of infinities and NaN are above all others.
inline float magnitude_of_rows(const float* HWY_RESTRICT rows, std::size_t stride, std::size_t count,
                               std::size_t size) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), whole = size / lanes * lanes;
  WordVector greatest[2] = {hn::Zero(kWords), hn::Zero(kWords)};
  const auto take = [&](std::size_t i, FloatVector v)
                        HWY_ATTR { greatest[i] = hn::Max(greatest[i], hn::BitCast(kWords, hn::Abs(v))); };
  for (std::size_t row = 0; row < count; ++row, rows += stride) {
    std::size_t i = 0;
    for (; i + 2 * lanes <= whole; i += 2 * lanes) {
      take(0, hn::LoadU(d, rows + i));
      take(1, hn::LoadU(d, rows + i + lanes));
    }
    if (i < whole) take(0, hn::LoadU(d, rows + i));
    if (whole < size) take(1, load_first(d, rows + whole, size - whole));
  }
  const std::int32_t bits = hn::GetLane(hn::MaxOfLanes(kWords, hn::Max(greatest[0], greatest[1])));
  float magnitude;
  __builtin_memcpy(&magnitude, &bits, sizeof(magnitude));
  return magnitude;
}

/// Rounds v * inverse to the nearest integer, in the low halves of words.
HWY_INLINE WordVector rounded(FloatVector v, FloatVector inverse) {
  return hn::BitCast(kWords, hn::MulAdd(v, inverse, hn::Set(FloatTag(), kRoundingMagic)));
}

/// Combines the low halves of two vectors into words of two shorts.
HWY_INLINE WordVector joined(WordVector low, WordVector high) {
  return hn::Or(hn::And(low, hn::Set(kWords, 0xffff)), hn::ShiftLeft<16>(high));
}

/// Word j of a row of `words` = (size + 1) / 2 holds the rounded numbers j and j + words. Rows of `to` have at least
/// that many words.
inline void round_rows(const float* HWY_RESTRICT from, std::size_t stride, std::size_t count, std::size_t size,
                       float inverse, float* HWY_RESTRICT to, std::size_t to_stride) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), words = (size + 1) / 2, whole = size / 2 / lanes * lanes;
  const FloatVector inverses = hn::Set(d, inverse);
  for (std::size_t row = 0; row < count; ++row, from += stride, to += to_stride) {
    auto* out = reinterpret_cast<std::int32_t*>(to);
    std::size_t j = 0;
    for (; j < whole; j += lanes) {
      const FloatVector low = hn::LoadU(d, from + j), high = hn::LoadU(d, from + words + j);
      hn::StoreU(joined(rounded(low, inverses), rounded(high, inverses)), kWords, out + j);
    }
    for (; j < words; j += lanes) {
      const std::size_t lows = words - j < lanes ? words - j : lanes, past = words + j;
      const std::size_t highs = size - past < lanes ? size - past : lanes;
      const FloatVector low = load_first(d, from + j, lows);
      const FloatVector high = past < size ? load_first(d, from + past, highs) : hn::Zero(d);
      store_first(joined(rounded(low, inverses), rounded(high, inverses)), kWords, out + j, lows);
    }
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// 2^t for t <= 0, 0 for -infinity, by a polynomial for 2^r with r from 0 to 1; coefficients from highest to lowest.
template <std::size_t kCoefficients>
HWY_INLINE FloatVector exp2_with(const float (&coefficients)[kCoefficients], FloatVector t) {
  constexpr int kLessTheFloor = 1;  // t - floor(t); scalef multiplies with 2^floor(t)
  const FloatTag d;
  const FloatVector r{_mm512_reduce_ps(t.raw, kLessTheFloor)};
  FloatVector y = hn::Set(d, coefficients[0]);
  HWY_UNROLL(4) for (std::size_t i = 1; i < kCoefficients; ++i) y = hn::MulAdd(y, r, hn::Set(d, coefficients[i]));
  return FloatVector{_mm512_scalef_ps(y.raw, t.raw)};
}

/// 2^t for t <= 0, relative error 2^-18; 0 for -infinity, and results below 2^-30 may be 0.
HWY_INLINE FloatVector short_exp2(FloatVector t) {
  constexpr float kCoefficients[] = {0.01353417f, 0.05201146f, 0.24144275f, 0.69300384f, 1.00000259f};
  return exp2_with(kCoefficients, t);
}
#else
HWY_INLINE FloatVector short_exp2(FloatVector t) {
  const FloatTag d;
  const FloatVector magic = hn::Set(d, kRoundingMagicBiased);
  const FloatVector shifted = hn::Add(t, magic);
  const FloatVector r = hn::Sub(t, hn::Sub(shifted, magic));
  FloatVector y = hn::MulAdd(hn::Set(d, 0.0095701f), r, hn::Set(d, 0.05591786f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.24024744f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.6931218f));
  y = hn::MulAdd(y, r, hn::Set(d, 0.9999993f));
  const FloatVector scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(kWords, shifted)));
  return hn::IfThenZeroElse(hn::Lt(t, hn::Set(d, -30.0f)), hn::Mul(y, scale));
}
#endif

/// Products of shorts, by Multiply::add(sum, pairs, pairs).
template <class Multiply>
class ShortProducts {
 public:
  static constexpr std::size_t kParts = 2, kKeyWords = 1, kValues = kTileRows;
  static constexpr std::size_t kKeysAtOnce = kTileRows, kValuesAtOnce = kTileRows;

  void end() {}

  void pack_queries(const AttentionArguments& a, const AttentionScratch& s, const float* q, std::size_t count,
                    std::size_t columns, float* block) const {
    const std::size_t lanes = hn::Lanes(kWords), staged = round_up(s.key_width, lanes);
    const ShortSteps found(magnitude_of_rows(q, a.q_stride, count, a.head_size), steps_of_products(a.head_size));
    *s.query_step_of(block) = found.step * a.scale;
    float* rows = s.scores;  // the scores' memory is still unused
    round_rows(q, a.q_stride, count, a.head_size, found.inverse, rows, staged);
    fill_rows(rows + count * staged, columns - count, staged, staged, 0);
    auto* queries = reinterpret_cast<std::int32_t*>(s.queries_of(block));
    const auto* words = reinterpret_cast<const std::int32_t*>(rows);
    for (std::size_t i = 0; i < columns; i += lanes) {
      for (std::size_t j = 0; j < s.key_width; j += lanes) {
        const auto load = [&](std::size_t row) HWY_ATTR { return hn::LoadU(kWords, words + (i + row) * staged + j); };
        const auto store = [&](std::size_t column, WordVector v) HWY_ATTR {
          if (j + column < s.key_width) hn::StoreU(v, kWords, queries + (j + column) * s.width + i);
        };
        transpose_square(kWords, load, store);
      }
    }
  }

  void pack_tile(const AttentionScratch& s, const HeadRows& k, const HeadRows& v, std::size_t first, std::size_t keys,
                 std::size_t /*unseen*/) {
    const float* rows = k.floats(first);
    const std::size_t stride = k.source.stride;
    const ShortSteps found(magnitude_of_rows(rows, stride, keys, k.size), steps_of_products(k.size));
    key_step_ = found.step;
    round_rows(rows, stride, keys, k.size, found.inverse, s.keys, s.key_width);
    const std::size_t padding = (round_up(keys, kTileRows) - keys) * s.key_width;
    for (std::size_t i = 0; i < padding; ++i) s.keys[keys * s.key_width + i] = 0;
    pack_values(s, v, first, keys);
  }

  template <std::size_t kVectors>
  HWY_INLINE void score(const AttentionScratch& s, std::size_t key, float* block) const {
    const FloatTag d;
    FloatVector sums[kTileRows][kVectors];
    multiply_words<kVectors>(s.keys + key * s.key_width, s.key_width, 1, s.queries_of(block), s.width, s.key_width,
                             sums);
    const FloatVector step = hn::Set(d, *s.query_step_of(block) * key_step_);
    HWY_UNROLL(8) for (std::size_t r = 0; r < kTileRows; ++r) {
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
        hn::Store(hn::Mul(hn::ConvertTo(d, hn::BitCast(kWords, sums[r][c])), step), d,
                  s.scores + (key + r) * s.width + c * hn::Lanes(d));
      }
    }
  }

  /// Writes the weights of keys 2i and 2i + 1 as words of row i, in place: no row that is still to be read lies there.
  template <std::size_t kVectors>
  HWY_INLINE void weigh(const AttentionScratch& s, std::size_t keys, SoftmaxState<kVectors>& state) const {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d);
    // Adding 2^9 leaves the weight's 14 bits, and one more for 1.0, in the lowest 15.
    static_assert(kWeightSteps == 16384);
    const FloatVector magic = hn::Set(d, 512.0f);
    const auto weight_of = [&](std::size_t key, std::size_t c) HWY_ATTR {
      const FloatVector score = hn::Load(d, s.scores + key * s.width + c * lanes);
      const FloatVector weight = short_exp2(hn::Mul(hn::Sub(score, state.greatest[c]), hn::Set(d, kLog2E)));
      state.sum[c] = hn::Add(state.sum[c], weight);
      return hn::BitCast(kWords, hn::Add(weight, magic));
    };
    const auto store = [&](std::size_t key, std::size_t c, WordVector low, WordVector high) HWY_ATTR {
      hn::Store(hn::BitCast(d, joined(low, high)), d, s.scores + key / 2 * s.width + c * lanes);
    };
    std::size_t key = 0;
    for (; key + 2 <= keys; key += 2) {
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
        store(key, c, weight_of(key, c), weight_of(key + 1, c));
      }
    }
    for (std::size_t c = 0; key < keys && c < kVectors; ++c) store(key, c, weight_of(key, c), hn::Zero(kWords));
  }

  template <std::size_t kVectors>
  HWY_INLINE void add_values(const AttentionScratch& s, std::size_t i, std::size_t keys, float* result,
                             const float* factors) const {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d), pairs = (keys + 1) / 2;
    const FloatVector step = hn::Set(d, value_step_);
    for (std::size_t first = 0; first < pairs; first += kPairsOfRun) {
      const std::size_t count = pairs - first < kPairsOfRun ? pairs - first : kPairsOfRun;
      FloatVector sums[kTileRows][kVectors];
      multiply_words<kVectors>(s.values + first * s.value_width + i, 1, s.value_width, s.scores + first * s.width,
                               s.width, count, sums);
      HWY_UNROLL(8) for (std::size_t r = 0; r < kTileRows; ++r) {
        HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
          float* at = result + (i + r) * s.width + c * lanes;
          const FloatVector sum = hn::ConvertTo(d, hn::BitCast(kWords, sums[r][c]));
          FloatVector total = hn::Mul(sum, step);
          if (first > 0) {
            total = hn::MulAdd(sum, step, hn::Load(d, at));
          } else if (factors != nullptr) {
            total = hn::MulAdd(hn::Load(d, at), hn::Load(d, factors + c * lanes), total);
          }
          hn::Store(total, d, at);
        }
      }
    }
  }

 private:
  /// sums[r] = sum over i < n of the pairs a[r * a_row + i * a_step] times those of b[i * b_stride ...]: integers typed
  /// as floats, because GCC otherwise does not keep them in registers.
  template <std::size_t kVectors>
  static HWY_INLINE void multiply_words(const float* HWY_RESTRICT a, std::size_t a_row, std::size_t a_step,
                                        const float* HWY_RESTRICT b, std::size_t b_stride, std::size_t n,
                                        FloatVector (&sums)[kTileRows][kVectors]) {
    const auto* columns = reinterpret_cast<const std::int32_t*>(b);
    const std::size_t lanes = hn::Lanes(kWords);
    HWY_UNROLL(8) for (std::size_t r = 0; r < kTileRows; ++r) {
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) sums[r][c] = hn::Zero(FloatTag());
    }
    const auto add = [&](std::size_t i) HWY_ATTR __attribute__((always_inline)) {
      WordVector column[kVectors];
      HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
        column[c] = hn::Load(kWords, columns + i * b_stride + c * lanes);
      }
      HWY_UNROLL(8) for (std::size_t r = 0; r < kTileRows; ++r) {
        const WordVector row = broadcast_word(a + r * a_row + i * a_step);
        HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) {
          sums[r][c] = hn::BitCast(FloatTag(), Multiply::add(hn::BitCast(kWords, sums[r][c]), row, column[c]));
        }
      }
    };
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
      add(i);
      add(i + 1);
      add(i + 2);
      add(i + 3);
    }
    for (; i < n; ++i) add(i);
  }

  /// Word [i, j] holds number j of the values of keys 2i and 2i + 1.
  void pack_values(const AttentionScratch& s, const HeadRows& rows, std::size_t first, std::size_t keys) {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d), stride = rows.source.stride, size = rows.size;
    const float* v = rows.floats(first);
    const ShortSteps found(magnitude_of_rows(v, stride, keys, size), kValueSteps);
    value_step_ = found.step / kWeightSteps;
    const FloatVector inverse = hn::Set(d, found.inverse);
    auto* to = reinterpret_cast<std::int32_t*>(s.values);
    for (std::size_t key = 0; key < keys; key += 2, to += s.value_width) {
      const float* row = v + key * stride;
      for (std::size_t j = 0; j < size; j += lanes) {
        const std::size_t count = size - j < lanes ? size - j : lanes;
        const auto load = [&](const float* from) HWY_ATTR {
          return rounded(count == lanes ? hn::LoadU(d, from) : load_first(d, from, count), inverse);
        };
        const WordVector words = joined(load(row + j), key + 1 < keys ? load(row + stride + j) : hn::Zero(kWords));
        if (count == lanes)
          hn::StoreU(words, kWords, to + j);
        else
          store_first(words, kWords, to + j, count);
      }
      for (std::size_t j = size; j < s.value_width; ++j) to[j] = 0;
    }
  }

  float key_step_ = 0, value_step_ = 0;  // of the tile
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
