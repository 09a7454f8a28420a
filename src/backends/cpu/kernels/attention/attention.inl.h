// The task of attention.h for one instruction set.
//
// Lanes are queries. Scores are held transposed, [keys, queries], so that softmax over the keys is element-wise vector
// work, and both products broadcast keys and values in place: only the queries are transposed on the way in, and the
// result on the way out. No head size needs a tail loop.
//
// A Products class defines the multiplied type: floats (here) or pairs of shorts (attention_shorts.inl.h). It packs the
// operands into float-sized words, each with kParts numbers of the summed axis.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/attention/head_rows.inl.h"
#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/moving/transpose.inl.h"
#include "backends/cpu/kernels/rows/bf16_rows.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kQueryVectors = 2;
// Where a row's maximum starts: finite, so that -infinity - it is no NaN, and no finite score is below it.
constexpr float kLowestScore = -3.40282347e38f;

// Rows of a register tile: with 2 vectors of queries, the accumulators, a broadcast and the operands fill the registers
// (32 on AVX-512 and AArch64, 16 on the others).
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t kTileRows = 8;
#else
constexpr std::size_t kTileRows = 4;
#endif

constexpr std::size_t round_up(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// The layout of a task's scratch. Rows of `queries`, `scores` and `result` hold kQueryVectors vectors.
struct AttentionScratch {
  std::size_t width;      // queries of a block: lanes * kQueryVectors
  std::size_t key_width;  // words per key in `keys`
  std::size_t value_width;
  std::size_t score_rows;  // of `scores`: kAttentionKeys, or more where the packing of queries needs it
  float* keys;             // [kAttentionKeys, key_width]
  float* values;           // [kAttentionKeys, value_width]
  float* scores;           // [score_rows, width]
  float* biases;           // [kAttentionKeys, width]
  float* factors;          // [width]
  float* blocks;           // per block: queries [key_width, width], result [value_width, width], maxima and sums
                           // [width], and one number kept by the packing of queries
  std::size_t block_floats;

  float* queries_of(float* block) const { return block; }
  float* result_of(float* block) const { return block + key_width * width; }
  float* maxima_of(float* block) const { return result_of(block) + value_width * width; }
  float* sums_of(float* block) const { return maxima_of(block) + width; }
  float* query_step_of(float* block) const { return sums_of(block) + width; }  // the quantization step of the queries
};

/// Only the sizes, without pointers.
template <class Products>
AttentionScratch measure_scratch(std::size_t head_size, std::size_t value_size) {
  const FloatTag d;
  AttentionScratch s{};
  s.width = hn::Lanes(d) * kQueryVectors;
  s.key_width = round_up(round_up(head_size, Products::kParts) / Products::kParts, Products::kKeyWords);
  s.value_width = round_up(value_size, Products::kValues);
  // With several values per word, queries are rounded into the scores' memory before they are transposed.
  const std::size_t staged = Products::kParts > 1 ? round_up(s.key_width, hn::Lanes(d)) : 0;
  s.score_rows = staged > kAttentionKeys ? staged : kAttentionKeys;
  s.block_floats = (s.key_width + s.value_width + 3) * s.width;
  return s;
}

inline std::size_t scratch_before_blocks(const AttentionScratch& s) {
  return kAttentionKeys * (s.key_width + s.value_width + s.width) + (s.score_rows + 1) * s.width;
}

template <class Products>
AttentionScratch lay_out_scratch(std::size_t head_size, std::size_t value_size, float* scratch) {
  AttentionScratch s = measure_scratch<Products>(head_size, value_size);
  s.keys = scratch;
  s.values = s.keys + kAttentionKeys * s.key_width;
  s.scores = s.values + kAttentionKeys * s.value_width;
  s.biases = s.scores + s.score_rows * s.width;
  s.factors = s.biases + kAttentionKeys * s.width;
  s.blocks = scratch + scratch_before_blocks(s);
  return s;
}

/// The attention mask: a query sees keys query - left to query + right, all by place; a negative bound is open.
struct Visibility {
  std::ptrdiff_t left;
  std::ptrdiff_t right;

  HWY_INLINE std::size_t first_key(std::size_t query) const {
    const std::ptrdiff_t key = static_cast<std::ptrdiff_t>(query) - left;
    return left < 0 || key < 0 ? 0 : static_cast<std::size_t>(key);
  }
  HWY_INLINE std::size_t end_key(std::size_t query, std::size_t length) const {
    if (right < 0) return length;
    const std::size_t end = query + static_cast<std::size_t>(right) + 1;
    return end < length ? end : length;
  }
};

inline Visibility visibility_of(const AttentionArguments& a) {
  Visibility sees{a.window_left, a.window_right};
  if (a.causal) sees.right = 0;
  return sees;
}

/// The part of a tile that one block of queries works on.
struct BlockTile {
  std::size_t query;      // first query of the block, from the sequence's first
  std::size_t place;      // its place among the keys
  std::size_t queries;    // valid queries, at most the block's width
  std::size_t first_key;  // of the tile, from the sequence's start
  std::size_t keys;       // of the tile
  bool is_first;          // the block's first visible tile: there is no earlier result
};

/// The row of a sequence's token in scores by distance, from the distance 0 on.
HWY_INLINE const float* distance_row(const AttentionArguments& a, const AttentionTask& task, const float* distances,
                                     std::size_t token) {
  return distances + (task.head * a.tokens + task.first_query + token) * 2 * a.distance_reach + a.distance_reach;
}
HWY_INLINE const float* key_distance_row(const AttentionArguments& a, const AttentionTask& task, std::size_t token) {
  if (!a.shares_key_distances) return distance_row(a, task, a.key_distances, token);
  return a.key_distances + task.head * 2 * a.distance_reach + a.distance_reach;
}

/// Adds scores by distance to scores[key][query].
template <std::size_t kVectors>
inline void add_distances(const AttentionArguments& a, const AttentionScratch& s, const AttentionTask& task,
                          const BlockTile& tile) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  if (a.query_distances != nullptr) {
    // From one query to the next, the entry of a key moves by one: a matrix [queries, keys] with shorter rows.
    const float* first = distance_row(a, task, a.query_distances, tile.query) + tile.first_key - tile.query;
    transpose_scaled<false>(first, 2 * a.distance_reach - 1, s.biases, s.width, tile.queries, tile.keys, 1.0f);
    for (std::size_t key = 0; key < tile.keys; ++key) {
      for (std::size_t i = tile.queries; i < kVectors * lanes; ++i) s.biases[key * s.width + i] = 0;
    }
  }
  for (std::size_t key = 0; key < tile.keys; ++key) {
    const std::size_t place = tile.first_key + key;
    for (std::size_t c = 0; c < kVectors; ++c) {
      float* at = s.scores + key * s.width + c * lanes;
      FloatVector score = hn::Load(d, at);
      if (a.query_distances != nullptr) score = hn::Add(score, hn::Load(d, s.biases + key * s.width + c * lanes));
      if (a.key_distances != nullptr) {
        const float* row = key_distance_row(a, task, place) + tile.query + c * lanes - place;
        const std::size_t left = tile.queries - c * lanes;
        score = hn::Add(score, left < lanes ? load_first(d, row, left) : hn::LoadU(d, row));
      }
      hn::Store(score, d, at);
    }
  }
}

/// Applies cap, bias and mask to scores[key][query]; the common case skips it.
template <std::size_t kVectors>
inline void adjust_scores(const AttentionArguments& a, const AttentionScratch& s, const AttentionTask& task,
                          const Visibility& sees, const BlockTile& tile) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const std::size_t lanes = hn::Lanes(d);
  if (a.bias != nullptr) {
    const float* bias = a.bias + task.sequence * a.bias_sequence_stride + task.head * a.bias_head_stride +
                        tile.query * a.bias_query_stride + tile.first_key;
    transpose_scaled<false>(bias, a.bias_query_stride, s.biases, s.width, tile.queries, tile.keys, 1.0f);
    for (std::size_t key = 0; key < tile.keys; ++key) {
      for (std::size_t i = tile.queries; i < kVectors * lanes; ++i) s.biases[key * s.width + i] = 0;
    }
  }
  const bool masks = sees.left >= 0 || sees.right >= 0;
  const FloatVector lowest = hn::Neg(hn::Inf(d));
  const FloatVector cap = hn::Set(d, a.soft_cap);
  const FloatVector inverse_cap = hn::Set(d, a.soft_cap > 0 ? 1.0f / a.soft_cap : 0.0f);
  // Sequences are far shorter than 2^30 tokens, so an open side of the window fits an int.
  constexpr std::ptrdiff_t kOpen = std::ptrdiff_t{1} << 30;
  const auto left = hn::Set(di, static_cast<std::int32_t>(sees.left < 0 || sees.left > kOpen ? kOpen : sees.left));
  const auto right = hn::Set(di, static_cast<std::int32_t>(sees.right < 0 || sees.right > kOpen ? kOpen : sees.right));
  for (std::size_t c = 0; c < kVectors; ++c) {
    const auto queries = hn::Iota(di, static_cast<std::int32_t>(tile.place + c * lanes));
    for (std::size_t key = 0; key < tile.keys; ++key) {
      float* at = s.scores + key * s.width + c * lanes;
      FloatVector score = hn::Load(d, at);
      if (a.soft_cap > 0) score = hn::Mul(cap, simd_tanh(d, hn::Mul(score, inverse_cap)));
      if (a.bias != nullptr) score = hn::Add(score, hn::Load(d, s.biases + key * s.width + c * lanes));
      if (masks) {
        const auto ahead = hn::Sub(hn::Set(di, static_cast<std::int32_t>(tile.first_key + key)), queries);
        const auto hidden = hn::Or(hn::Gt(ahead, right), hn::Gt(hn::Neg(ahead), left));
        score = hn::IfThenElse(hn::RebindMask(d, hidden), lowest, score);
      }
      hn::Store(score, d, at);
    }
  }
}

/// Online-softmax state for a tile's products: per column, the greatest score so far and the sum of weights.
template <std::size_t kVectors>
struct SoftmaxState {
  FloatVector greatest[kVectors];
  FloatVector sum[kVectors];

  // The implicit one would not be compiled for the instruction set that NEON's vectors need.
  HWY_ATTR SoftmaxState() {}
};

/// Updates the running maxima. `factors` receives the rescaling of earlier results; sums are already rescaled.
template <std::size_t kVectors>
HWY_INLINE SoftmaxState<kVectors> raise_maxima(const AttentionScratch& s, std::size_t keys, float* HWY_RESTRICT maxima,
                                               const float* HWY_RESTRICT sums) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kChains = 4;  // hide the latency of one chain
  SoftmaxState<kVectors> state;
  FloatVector chains[kChains][kVectors];
  HWY_UNROLL(4) for (std::size_t chain = 0; chain < kChains; ++chain) {
    HWY_UNROLL(2) for (std::size_t c = 0; c < kVectors; ++c) chains[chain][c] = hn::Load(d, maxima + c * lanes);
  }
  const auto take = [&](std::size_t chain, std::size_t key) HWY_ATTR {
    HWY_UNROLL(2)
    for (std::size_t c = 0; c < kVectors; ++c)
      chains[chain][c] = hn::Max(chains[chain][c], hn::Load(d, s.scores + key * s.width + c * lanes));
  };
  std::size_t key = 0;
  for (; key + kChains <= keys; key += kChains) {
    HWY_UNROLL(4) for (std::size_t chain = 0; chain < kChains; ++chain) take(chain, key + chain);
  }
  for (; key < keys; ++key) take(0, key);
  HWY_UNROLL(2)
  for (std::size_t c = 0; c < kVectors; ++c)
    state.greatest[c] = hn::Max(hn::Max(chains[0][c], chains[1][c]), hn::Max(chains[2][c], chains[3][c]));
  for (std::size_t c = 0; c < kVectors; ++c) {
    const FloatVector before = hn::Load(d, maxima + c * lanes);
    const FloatVector factor = simd_exp_nonpositive(d, hn::Sub(before, state.greatest[c]));
    state.sum[c] = hn::Mul(hn::Load(d, sums + c * lanes), factor);
    hn::Store(factor, d, s.factors + c * lanes);
    hn::Store(state.greatest[c], d, maxima + c * lanes);
  }
  return state;
}

/// Products of floats. A head has kParts numbers per word, padded to multiples of kKeyWords words and kValues values;
/// scores are computed for kKeysAtOnce keys at a time, results for kValuesAtOnce values.
class FloatProducts {
 public:
  static constexpr std::size_t kParts = 1, kKeyWords = 1, kValues = kTileRows;
  static constexpr std::size_t kKeysAtOnce = kTileRows, kValuesAtOnce = kTileRows;

  /// To be called last. Not a destructor: calling one during unwinding needs a symbol that all files share.
  void end() {}

  /// Packs `count` scaled queries as columns of a block; the rest of `columns` is zero.
  void pack_queries(const AttentionArguments& a, const AttentionScratch& s, const float* q, std::size_t count,
                    std::size_t columns, float* block) const;
  /// Packs keys and values [first, first + keys) as a tile, zero-padded to a multiple of kTileRows keys: scores of
  /// padding are computed but not used. The first `unseen` ones, which no query sees, are not read but zeros.
  void pack_tile(const AttentionScratch& s, const HeadRows& k, const HeadRows& v, std::size_t first, std::size_t keys,
                 std::size_t unseen);

  /// scores[key][:] = key . queries, for kTileRows keys.
  template <std::size_t kVectors>
  HWY_INLINE void score(const AttentionScratch& s, std::size_t key, float* block) const {
    multiply_tile<kVectors>(s.keys + key * s.key_width, s.key_width, 1, s.queries_of(block), s.width, s.key_width,
                            s.scores + key * s.width, s.width, nullptr);
  }

  /// Turns scores into exp(score - maximum) and sums them.
  template <std::size_t kVectors>
  HWY_INLINE void weigh(const AttentionScratch& s, std::size_t keys, SoftmaxState<kVectors>& state) const {
    const FloatTag d;
    for (std::size_t key = 0; key < keys; ++key) {
      for (std::size_t c = 0; c < kVectors; ++c) {
        float* at = s.scores + key * s.width + c * hn::Lanes(d);
        const FloatVector weight = simd_exp_nonpositive(d, hn::Sub(hn::Load(d, at), state.greatest[c]));
        state.sum[c] = hn::Add(state.sum[c], weight);
        hn::Store(weight, d, at);
      }
    }
  }

  /// result[i][:] = result[i][:] * factors + values . weights for kTileRows values from i on; null factors mean 0.
  template <std::size_t kVectors>
  HWY_INLINE void add_values(const AttentionScratch& s, std::size_t i, std::size_t keys, float* result,
                             const float* factors) const {
    multiply_tile<kVectors>(s.values + i, 1, s.value_width, s.scores, s.width, keys, result + i * s.width, s.width,
                            factors);
  }

 private:
  /// out[r][:] = initial + sum over i < n of a[r * a_row + i * a_step] * b[i * b_stride ...] for kTileRows rows r and
  /// kVectors vectors of columns, where initial is out[r][:] * factors, or 0 when factors is null.
  template <std::size_t kVectors>
  static HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, std::size_t a_row, std::size_t a_step,
                                       const float* HWY_RESTRICT b, std::size_t b_stride, std::size_t n,
                                       float* HWY_RESTRICT out, std::size_t out_stride,
                                       const float* HWY_RESTRICT factors) {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d);
    FloatVector sums[kTileRows][kVectors];
    for (std::size_t r = 0; r < kTileRows; ++r) {
      for (std::size_t c = 0; c < kVectors; ++c) sums[r][c] = hn::Zero(d);
    }
    if (factors != nullptr) {
      for (std::size_t r = 0; r < kTileRows; ++r) {
        for (std::size_t c = 0; c < kVectors; ++c) {
          sums[r][c] = hn::Mul(hn::Load(d, out + r * out_stride + c * lanes), hn::Load(d, factors + c * lanes));
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      FloatVector columns[kVectors];
      for (std::size_t c = 0; c < kVectors; ++c) columns[c] = hn::Load(d, b + i * b_stride + c * lanes);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const FloatVector row = hn::Set(d, a[r * a_row + i * a_step]);
        for (std::size_t c = 0; c < kVectors; ++c) sums[r][c] = hn::MulAdd(row, columns[c], sums[r][c]);
      }
    }
    for (std::size_t r = 0; r < kTileRows; ++r) {
      for (std::size_t c = 0; c < kVectors; ++c) hn::Store(sums[r][c], d, out + r * out_stride + c * lanes);
    }
  }
};

template <class Products, std::size_t kVectors>
HWY_NOINLINE void attend_block_tile(const AttentionArguments& a, const AttentionScratch& s, const AttentionTask& task,
                                    const Visibility& sees, const BlockTile& tile, const Products& products,
                                    float* block) {
  for (std::size_t key = 0; key < tile.keys; key += Products::kKeysAtOnce)
    products.template score<kVectors>(s, key, block);
  if (a.bias != nullptr || a.soft_cap > 0 || sees.left >= 0 || sees.right >= 0) {
    adjust_scores<kVectors>(a, s, task, sees, tile);
  }
  if (a.query_distances != nullptr || a.key_distances != nullptr) add_distances<kVectors>(a, s, task, tile);
  float* sums = s.sums_of(block);
  SoftmaxState<kVectors> state = raise_maxima<kVectors>(s, tile.keys, s.maxima_of(block), sums);
  products.template weigh<kVectors>(s, tile.keys, state);
  for (std::size_t c = 0; c < kVectors; ++c) hn::Store(state.sum[c], FloatTag(), sums + c * hn::Lanes(FloatTag()));
  for (std::size_t i = 0; i < s.value_width; i += Products::kValuesAtOnce) {
    products.template add_values<kVectors>(s, i, tile.keys, s.result_of(block), tile.is_first ? nullptr : s.factors);
  }
}

/// Columns of a block to compute: whole vectors of queries.
HWY_INLINE std::size_t used_columns(const AttentionScratch& s, std::size_t count) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  return count <= lanes ? lanes : s.width;
}

/// Sets `columns` floats, whole vectors, in each of `rows` rows. Goes column by column: the compiler would turn rows
/// into memset calls, which are too slow for so few bytes.
HWY_INLINE void fill_rows(float* rows_begin, std::size_t rows, std::size_t stride, std::size_t columns, float value) {
  const FloatTag d;
  const FloatVector filler = hn::Set(d, value);
  for (std::size_t i = 0; i < columns; i += hn::Lanes(d)) {
    for (std::size_t row = 0; row < rows; ++row) hn::Store(filler, d, rows_begin + row * stride + i);
  }
}

inline void FloatProducts::pack_queries(const AttentionArguments& a, const AttentionScratch& s, const float* q,
                                        std::size_t count, std::size_t columns, float* block) const {
  float* queries = s.queries_of(block);
  if (!kTransposeFills && count < columns) fill_rows(queries, a.head_size, s.width, columns, 0);
  transpose_scaled<kTransposeFills>(q, a.q_stride, queries, s.width, count, a.head_size, a.scale);
}

inline void FloatProducts::pack_tile(const AttentionScratch& s, const HeadRows& k, const HeadRows& v, std::size_t first,
                                     std::size_t keys, std::size_t unseen) {
  for (std::size_t i = 0; i < unseen * s.key_width; ++i) s.keys[i] = 0;
  k.pack(first + unseen, keys - unseen, s.key_width, s.keys + unseen * s.key_width);
  const std::size_t padding = (round_up(keys, kTileRows) - keys) * s.key_width;
  for (std::size_t i = 0; i < padding; ++i) s.keys[keys * s.key_width + i] = 0;
  for (std::size_t i = 0; i < unseen * s.value_width; ++i) s.values[i] = 0;
  v.pack(first + unseen, keys - unseen, s.value_width, s.values + unseen * s.value_width);
}

template <class Products>
void begin_block(const AttentionArguments& a, const AttentionScratch& s, const AttentionTask& task,
                 const Products& products, std::size_t query, std::size_t count, float* block) {
  const float* q = a.q + (task.first_query + query) * a.q_stride + head_offset(task.head, a.q_head_stride, a.head_size);
  const std::size_t columns = used_columns(s, count);
  products.pack_queries(a, s, q, count, columns, block);
  fill_rows(s.maxima_of(block), 1, s.width, columns, a.sinks != nullptr ? a.sinks[task.head] : kLowestScore);
  fill_rows(s.sums_of(block), 1, s.width, columns, a.sinks != nullptr ? 1.0f : 0.0f);
  // A query with all keys masked still has the sink's weight: its result must be 0, not stale memory.
  if (a.sinks != nullptr) fill_rows(s.result_of(block), s.value_width, s.width, columns, 0);
}

inline void end_block(const AttentionArguments& a, const AttentionScratch& s, const AttentionTask& task,
                      std::size_t query, std::size_t count, float* block) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  float* result = s.result_of(block);
  const float* sums = s.sums_of(block);
  for (std::size_t c = 0; c < used_columns(s, count); c += lanes) {
    const FloatVector sum = hn::Load(d, sums + c);
    // Only a row with all keys masked has the sum 0; if its whole block saw none, its result was never written.
    const auto is_empty = hn::Eq(sum, hn::Zero(d));
    const FloatVector factor = hn::Div(hn::Set(d, 1.0f), sum);
    for (std::size_t i = 0; i < a.value_size; ++i) {
      const FloatVector value = hn::Mul(hn::Load(d, result + i * s.width + c), factor);
      hn::Store(hn::IfThenZeroElse(is_empty, value), d, result + i * s.width + c);
    }
  }
  const std::size_t place = (task.first_query + query) * a.out_stride + task.head * a.value_size;
  if (a.halves == nullptr) {
    transpose_scaled<false>(result, s.width, a.out + place, a.out_stride, a.value_size, count, 1.0f);
    return;
  }
  // Takes kAttentionKeys values at a time, so that they fit the scores' memory.
  for (std::size_t first = 0; first < a.value_size; first += kAttentionKeys) {
    const std::size_t values = a.value_size - first < kAttentionKeys ? a.value_size - first : kAttentionKeys;
    transpose_scaled<false>(result + first * s.width, s.width, s.scores, values, values, count, 1.0f);
    for (std::size_t row = 0; row < count; ++row)
      round_row_to_halves(s.scores + row * values, values, a.halves + place + row * a.out_stride + first);
  }
}

template <class Products>
void attend_with(const AttentionArguments& a, const AttentionTask& task, float* scratch) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const AttentionScratch s = lay_out_scratch<Products>(a.head_size, a.value_size, scratch);
  const Visibility sees = visibility_of(a);
  const std::size_t kv_head = task.head * a.kv_heads / a.heads;
  const HeadRows k(a.k, task, kv_head, a.head_size), v(a.v, task, kv_head, a.value_size);
  Products products;
  const auto count_at = [&](std::size_t query) {
    return task.query_end - query < s.width ? task.query_end - query : s.width;
  };
  const auto block_at = [&](std::size_t query) {
    return s.blocks + (query - task.query_begin) / s.width * s.block_floats;
  };
  for (std::size_t query = task.query_begin; query < task.query_end; query += s.width) {
    begin_block(a, s, task, products, query, count_at(query), block_at(query));
  }
  for (std::size_t first = 0; first < task.keys; first += kAttentionKeys) {
    const std::size_t keys = task.keys - first < kAttentionKeys ? task.keys - first : kAttentionKeys;
    bool packed = false;
    for (std::size_t query = task.query_begin; query < task.query_end; query += s.width) {
      const std::size_t count = count_at(query), place = task.first_place + query;
      // Skips tiles that are masked for all of a block's queries.
      if (sees.end_key(place + count - 1, task.keys) <= first || sees.first_key(place) >= first + keys) continue;
      if (!packed) {
        const std::size_t seen = sees.first_key(task.first_place + task.query_begin);
        products.pack_tile(s, k, v, first, keys, seen < first ? 0 : seen - first);
        packed = true;
      }
      const bool is_first = sees.first_key(place) / kAttentionKeys == first / kAttentionKeys;
      const BlockTile tile{query, place, count, first, keys, is_first};
      if (count <= lanes) {
        attend_block_tile<Products, 1>(a, s, task, sees, tile, products, block_at(query));
      } else {
        attend_block_tile<Products, kQueryVectors>(a, s, task, sees, tile, products, block_at(query));
      }
    }
  }
  for (std::size_t query = task.query_begin; query < task.query_end; query += s.width) {
    end_block(a, s, task, query, count_at(query), block_at(query));
  }
  products.end();
}

template <class Products>
std::size_t scratch_floats_with(std::size_t head_size, std::size_t value_size) {
  const AttentionScratch s = measure_scratch<Products>(head_size, value_size);
  return scratch_before_blocks(s) + round_up(kAttentionQueries, s.width) / s.width * s.block_floats;
}

template <class Products>
AttentionKernel attention_kernel() {
  return {.attend = attend_with<Products>, .scratch_floats = scratch_floats_with<Products>};
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
