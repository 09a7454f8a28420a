// Attention of attention.h for few queries of a sequence, for one instruction set.
//
// A query and a head are a row. Lanes are keys in the scores, for which keys are transposed in registers, and values in
// the result, so that one row fills a vector. Keys and values are read where they lie, once for all rows that share
// them. Each sum adds its products one by one, in the order of attention.inl.h: the bits are those of that kernel.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/attention/attention.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
static_assert(kAttentionKeys % kLanes == 0);

/// Where rows of a tile are, of the first key/value head of a task; padded with the last one to a multiple of kLanes.
struct TileRows {
  const std::byte* rows[kAttentionKeys];
  const float* scales[kAttentionKeys];  // of integers
  std::size_t count = 0;

  TileRows(const HeadRows& source, std::size_t first, std::size_t keys) {
    const KeySource& from = source.source;
    const std::size_t number_bytes = bytes_of(from.numbers);
    source.visit_runs(first, keys, [&](std::size_t begin, std::size_t run) HWY_ATTR {
      for (std::size_t i = begin; i < begin + run; ++i, ++count) {
        rows[count] = static_cast<const std::byte*>(from.base) + (source.first + i * from.stride) * number_bytes;
        scales[count] = source.scales_of(i);
      }
    });
    for (std::size_t i = count; i % kLanes != 0; ++i) {
      rows[i] = rows[count - 1];
      scales[i] = scales[count - 1];
    }
  }
};

/// Prefetches the next tile of a task, all its heads, in the order of memory: a processor cannot foresee the rows of
/// one head, which are apart, and reads much else when it tries.
class TileAhead {
 public:
  TileAhead(const TileRows& keys, const TileRows& values, std::size_t key_bytes, std::size_t value_bytes)
      : keys_(keys), values_(values), key_bytes_(key_bytes), value_bytes_(value_bytes) {}

  /// Goes on by so many bytes.
  HWY_INLINE void advance(std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    constexpr int kSecondLevel = 2;
    for (std::size_t i = 0; i < bytes && row_ < keys_.count + values_.count; i += kLine) {
      const bool is_key = row_ < keys_.count;
      __builtin_prefetch((is_key ? keys_.rows[row_] : values_.rows[row_ - keys_.count]) + done_, 0, kSecondLevel);
      done_ += kLine;
      if (done_ < (is_key ? key_bytes_ : value_bytes_)) continue;
      done_ = 0;
      ++row_;
    }
  }

 private:
  const TileRows &keys_, &values_;
  std::size_t key_bytes_, value_bytes_;  // of all heads of a row
  std::size_t row_ = 0, done_ = 0;
};

/// One key/value head's part of a tile. Offsets are from the first head of the task.
struct HeadTile {
  const TileRows &keys, &values;
  std::size_t head, key_offset, value_offset;
};

/// Numbers of a row from i on, at most a whole vector of them.
template <StoredNumbers kNumbers>
HWY_INLINE FloatVector load_stored(const std::byte* row, std::size_t i, std::size_t count, FloatVector scale) {
  if constexpr (kNumbers == StoredNumbers::f32) {
    const FloatTag d;
    const float* from = reinterpret_cast<const float*>(row) + i;
    return count >= kLanes ? hn::LoadU(d, from) : load_first(d, from, count);
  } else if constexpr (kNumbers == StoredNumbers::i8) {
    return hn::Mul(load_bytes(reinterpret_cast<const std::int8_t*>(row) + i, count), scale);
  } else {
    return load_halves(reinterpret_cast<const std::uint16_t*>(row) + i, count, kNumbers == StoredNumbers::f16);
  }
}

/// The scale of a row's integers; nothing for floats.
template <StoredNumbers kNumbers>
HWY_INLINE FloatVector scale_of(const float* scales, std::size_t head) {
  return kNumbers == StoredNumbers::i8 ? hn::Set(FloatTag(), scales[head]) : hn::Zero(FloatTag());
}

/// Rows of the state of a task: one head's rows are padded to groups (for_row_groups), 3 at worst to 4.
constexpr std::size_t kSlots = kMostFewRows / 2 * 3;

/// The state of a task's rows, in kSlots slots; scores are of kTileRows at a time.
struct FewScratch {
  std::size_t head_size, value_width;
  float* scores;    // [kTileRows, kAttentionKeys]
  float* results;   // [.., value_width]
  float* queries;   // [.., head_size], scaled
  float* greatest;  // [..], the maximum so far
  float* sums;      // [..], of weights
  float* factors;   // [..], the rescaling of earlier results

  FewScratch(std::size_t size, std::size_t value_size, float* memory)
      : head_size(size), value_width(round_up(value_size, kLanes)) {
    scores = memory;
    results = scores + kTileRows * kAttentionKeys;
    greatest = results + kSlots * value_width;
    sums = greatest + kSlots;
    factors = sums + kSlots;
    queries = factors + kSlots;
  }
  static std::size_t floats(std::size_t size, std::size_t value_size) {
    return kTileRows * kAttentionKeys + kSlots * (round_up(value_size, kLanes) + size + 3);
  }
};

/// Adds the products of `count` numbers from i on of kLanes keys with those of kRows queries.
template <StoredNumbers kNumbers, std::size_t kRows>
HWY_INLINE void add_key_products(const HeadTile& tile, std::size_t key, std::size_t i, std::size_t count,
                                 const float* queries, std::size_t stride, FloatVector (&sums)[kRows]) {
  const FloatTag d;
  FloatVector columns[kLanes];
  const auto load = [&](std::size_t row) HWY_ATTR {
    return load_stored<kNumbers>(tile.keys.rows[key + row] + tile.key_offset, i, count,
                                 scale_of<kNumbers>(tile.keys.scales[key + row], tile.head));
  };
  const auto store = [&](std::size_t column, FloatVector v) HWY_ATTR { columns[column] = v; };
  transpose_square(d, load, store);
  const auto add = [&](std::size_t column) HWY_ATTR {
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
      sums[r] = hn::MulAdd(columns[column], hn::Set(d, queries[r * stride + i + column]), sums[r]);
    }
  };
  if (count >= kLanes) {
    HWY_UNROLL(16) for (std::size_t column = 0; column < kLanes; ++column) { add(column); }
  } else {
    HWY_UNROLL(16) for (std::size_t column = 0; column < kLanes; ++column) {
      if (column < count) add(column);
    }
  }
}

/// scores[r][key] = key . query r, of the rows from `slot` on; also for the padding of the keys.
template <StoredNumbers kNumbers, std::size_t kRows>
HWY_NOINLINE void score_keys(const FewScratch& s, const HeadTile& tile, std::size_t slot, TileAhead* ahead) {
  const FloatTag d;
  const float* queries = s.queries + slot * s.head_size;
  const std::size_t whole = s.head_size / kLanes * kLanes;
  for (std::size_t key = 0; key < tile.keys.count; key += kLanes) {
    FloatVector sums[kRows];
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) { sums[r] = hn::Zero(d); }
    for (std::size_t i = 0; i < whole; i += kLanes) {
      add_key_products<kNumbers, kRows>(tile, key, i, kLanes, queries, s.head_size, sums);
      if (ahead != nullptr) ahead->advance(kLanes * kLanes * bytes_of(kNumbers));
    }
    if (whole < s.head_size)
      add_key_products<kNumbers, kRows>(tile, key, whole, s.head_size - whole, queries, s.head_size, sums);
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
      hn::Store(sums[r], d, s.scores + r * kAttentionKeys + key);
    }
  }
}

/// Turns the scores of a row's keys into weights, of which [begin, end) are visible, and updates its maximum.
inline void weigh_keys(const AttentionArguments& a, const FewScratch& s, float* scores, std::size_t slot,
                       std::size_t keys, std::size_t begin, std::size_t end) {
  const FloatTag d;
  const std::size_t padded = round_up(keys, kLanes);
  if (a.soft_cap > 0) {
    const FloatVector cap = hn::Set(d, a.soft_cap), inverse_cap = hn::Set(d, 1.0f / a.soft_cap);
    for (std::size_t key = 0; key < padded; key += kLanes) {
      const FloatVector score = hn::Load(d, scores + key);
      hn::Store(hn::Mul(cap, simd_tanh(d, hn::Mul(score, inverse_cap))), d, scores + key);
    }
  }
  constexpr float kHidden = -__builtin_inff();
  for (std::size_t key = 0; key < begin; ++key) scores[key] = kHidden;
  for (std::size_t key = end; key < padded; ++key) scores[key] = kHidden;
  const FloatVector before = hn::Set(d, s.greatest[slot]);
  FloatVector greatest = before;
  for (std::size_t key = 0; key < padded; key += kLanes) greatest = hn::Max(greatest, hn::Load(d, scores + key));
  greatest = hn::MaxOfLanes(d, greatest);
  s.greatest[slot] = hn::GetLane(greatest);
  s.factors[slot] = hn::GetLane(simd_exp_nonpositive(d, hn::Sub(before, greatest)));
  for (std::size_t key = 0; key < padded; key += kLanes)
    hn::Store(simd_exp_nonpositive(d, hn::Sub(hn::Load(d, scores + key), greatest)), d, scores + key);
}

/// Adds weights to the sums of kRows rows.
template <std::size_t kRows>
HWY_NOINLINE void sum_weights(const FewScratch& s, std::size_t slot, std::size_t keys) {
  float sums[kRows];
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) { sums[r] = s.sums[slot + r] * s.factors[slot + r]; }
  for (std::size_t key = 0; key < keys; ++key) {
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) { sums[r] += s.scores[r * kAttentionKeys + key]; }
  }
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) { s.sums[slot + r] = sums[r]; }
}

/// results[r][i ...] = results[r][i ...] * factor + weights . values for kRows rows and kVectors vectors of values, of
/// which the last one has `count`.
template <StoredNumbers kNumbers, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void add_value_vectors(const FewScratch& s, const HeadTile& tile, std::size_t slot, std::size_t i,
                                  std::size_t count, TileAhead* ahead) {
  const FloatTag d;
  float* results = s.results + slot * s.value_width + i;
  FloatVector sums[kRows][kVectors];
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
    const FloatVector factor = hn::Set(d, s.factors[slot + r]);
    HWY_UNROLL(4) for (std::size_t c = 0; c < kVectors; ++c) {
      sums[r][c] = hn::Mul(hn::Load(d, results + r * s.value_width + c * kLanes), factor);
    }
  }
  for (std::size_t key = 0; key < tile.values.count; ++key) {
    if (ahead != nullptr) ahead->advance(kVectors * kLanes * bytes_of(kNumbers));
    const std::byte* const from = tile.values.rows[key] + tile.value_offset;
    const FloatVector scale = scale_of<kNumbers>(tile.values.scales[key], tile.head);
    FloatVector numbers[kVectors];
    HWY_UNROLL(4) for (std::size_t c = 0; c < kVectors; ++c) {
      numbers[c] = load_stored<kNumbers>(from, i + c * kLanes, c + 1 < kVectors ? kLanes : count, scale);
    }
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVector weight = hn::Set(d, s.scores[r * kAttentionKeys + key]);
      HWY_UNROLL(4) for (std::size_t c = 0; c < kVectors; ++c) {
        sums[r][c] = hn::MulAdd(numbers[c], weight, sums[r][c]);
      }
    }
  }
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (std::size_t c = 0; c < kVectors; ++c) {
      hn::Store(sums[r][c], d, results + r * s.value_width + c * kLanes);
    }
  }
}

template <StoredNumbers kNumbers, std::size_t kRows>
HWY_NOINLINE void add_values(const FewScratch& s, const HeadTile& tile, std::size_t slot, std::size_t size,
                             TileAhead* ahead) {
  // As many sums as hide the latency of one, and leave registers for values.
  constexpr std::size_t kVectors = kRows * 4 <= 2 * kTileRows ? 4 : 2 * kTileRows / kRows;
  std::size_t i = 0;
  for (; i + kVectors * kLanes <= size; i += kVectors * kLanes)
    add_value_vectors<kNumbers, kRows, kVectors>(s, tile, slot, i, kLanes, ahead);
  for (; i + kLanes <= size; i += kLanes) add_value_vectors<kNumbers, kRows, 1>(s, tile, slot, i, kLanes, ahead);
  if (i < size) add_value_vectors<kNumbers, kRows, 1>(s, tile, slot, i, size - i, ahead);
}

/// Calls use(row, rows as a constant) for groups that cover [0, rows) and at most a third more. Gives what they cover.
template <typename Use>
HWY_INLINE std::size_t for_row_groups(std::size_t rows, const Use& use) {
  std::size_t row = 0;
  while (row < rows) {
    const std::size_t left = rows - row;
    if (kTileRows >= 8 && left >= 6) {
      use(row, std::integral_constant<std::size_t, kTileRows>());
      row += kTileRows;
    } else if (left >= 3) {
      use(row, std::integral_constant<std::size_t, 4>());
      row += 4;
    } else if (left == 2) {
      use(row, std::integral_constant<std::size_t, 2>());
      row += 2;
    } else {
      use(row, std::integral_constant<std::size_t, 1>());
      row += 1;
    }
  }
  return row;
}

/// The rows of a task that read one key/value head: row i is query i % queries of the query head i / queries.
struct HeadRowsOfTask {
  std::size_t kv_head;  // from the task's first
  std::size_t head;     // the first of the query heads
  std::size_t count;
  std::size_t slot, slots;
};

template <StoredNumbers kNumbers>
class FewQueries {
 public:
  FewQueries(const AttentionArguments& a, const AttentionTask& task, float* scratch)
      : a_(a),
        task_(task),
        s_(a.head_size, a.value_size, scratch),
        sees_(visibility_of(a)),
        queries_(task.query_end - task.query_begin),
        group_(a.heads / a.kv_heads),
        first_kv_head_(task.head / group_),
        k_(a.k, task, first_kv_head_, a.head_size),
        v_(a.v, task, first_kv_head_, a.value_size) {}

  void run() {
    for_heads([&](const HeadRowsOfTask& rows) HWY_ATTR { begin(rows); });
    const std::size_t kv_heads = (task_.head + task_.heads - 1) / group_ + 1 - first_kv_head_;
    const std::size_t end = sees_.end_key(place(queries_ - 1), task_.keys);
    const auto tile_end = [&](std::size_t first) HWY_ATTR {
      const std::size_t next = first / kAttentionKeys * kAttentionKeys + kAttentionKeys;
      return next < end ? next : end;
    };
    const auto tile_of = [&](const HeadRows& source, std::size_t first)
                             HWY_ATTR { return TileRows(source, first, first < end ? tile_end(first) - first : 0); };
    std::size_t first = sees_.first_key(place(0));
    TileRows keys = tile_of(k_, first), values = tile_of(v_, first);
    while (first < end) {
      const std::size_t next = tile_end(first);
      const TileRows next_keys = tile_of(k_, next), next_values = tile_of(v_, next);
      TileAhead ahead(next_keys, next_values, kv_heads * a_.head_size * kBytes, kv_heads * a_.value_size * kBytes);
      for_heads([&](const HeadRowsOfTask& rows) HWY_ATTR {
        attend({.keys = keys,
                .values = values,
                .head = rows.kv_head,
                .key_offset = head_offset(rows.kv_head, a_.k.head_stride, a_.head_size) * kBytes,
                .value_offset = head_offset(rows.kv_head, a_.v.head_stride, a_.value_size) * kBytes},
               first, rows, ahead);
      });
      first = next;
      keys = next_keys;
      values = next_values;
    }
    for_heads([&](const HeadRowsOfTask& rows) HWY_ATTR { end_rows(rows); });
  }

 private:
  static constexpr std::size_t kBytes = bytes_of(kNumbers);

  template <typename Use>
  HWY_INLINE void for_heads(const Use& use) const {
    const std::size_t end = task_.head + task_.heads;
    std::size_t slot = 0;
    for (std::size_t head = task_.head; head < end;) {
      const std::size_t kv_head = head / group_, next = (kv_head + 1) * group_ < end ? (kv_head + 1) * group_ : end;
      const std::size_t count = (next - head) * queries_;
      const std::size_t slots = for_row_groups(count, [](std::size_t, auto) {});
      use(HeadRowsOfTask{kv_head - first_kv_head_, head, count, slot, slots});
      slot += slots;
      head = next;
    }
  }

  std::size_t place(std::size_t row) const { return task_.first_place + task_.query_begin + row % queries_; }
  std::size_t token(std::size_t row) const { return task_.first_query + task_.query_begin + row % queries_; }

  void begin(const HeadRowsOfTask& rows) const {
    for (std::size_t row = 0; row < rows.slots; ++row) {
      const std::size_t slot = rows.slot + row, head = rows.head + (row < rows.count ? row : 0) / queries_;
      const float* const from = a_.q + token(row) * a_.q_stride + head_offset(head, a_.q_head_stride, a_.head_size);
      for (std::size_t i = 0; i < a_.head_size; ++i) s_.queries[slot * a_.head_size + i] = from[i] * a_.scale;
      s_.greatest[slot] = a_.sinks != nullptr ? a_.sinks[head] : kLowestScore;
      s_.sums[slot] = a_.sinks != nullptr ? 1.0f : 0.0f;
      for (std::size_t i = 0; i < s_.value_width; ++i) s_.results[slot * s_.value_width + i] = 0;
    }
  }

  /// One key/value head of a tile whose first key is `first`.
  void attend(const HeadTile& tile, std::size_t first, const HeadRowsOfTask& rows, TileAhead& ahead) const {
    const std::size_t keys = tile.keys.count;
    const auto within = [&](std::size_t key) HWY_ATTR {
      return key < first ? 0 : key - first < keys ? key - first : keys;
    };
    for_row_groups(rows.count, [&](std::size_t row, auto group) HWY_ATTR {
      constexpr std::size_t kRows = decltype(group)::value;
      const std::size_t slot = rows.slot + row;
      TileAhead* const prefetching = row == 0 ? &ahead : nullptr;
      score_keys<kNumbers, kRows>(s_, tile, slot, prefetching);
      for (std::size_t r = 0; r < kRows; ++r) {
        weigh_keys(a_, s_, s_.scores + r * kAttentionKeys, slot + r, keys, within(sees_.first_key(place(row + r))),
                   within(sees_.end_key(place(row + r), task_.keys)));
      }
      sum_weights<kRows>(s_, slot, keys);
      add_values<kNumbers, kRows>(s_, tile, slot, a_.value_size, prefetching);
    });
  }

  void end_rows(const HeadRowsOfTask& rows) const {
    const FloatTag d;
    for (std::size_t row = 0; row < rows.count; ++row) {
      float* const result = s_.results + (rows.slot + row) * s_.value_width;
      const float sum = s_.sums[rows.slot + row];
      const bool is_empty = sum == 0;  // all keys are masked
      const FloatVector factor = hn::Set(d, 1.0f / sum);
      for (std::size_t i = 0; i < s_.value_width; i += kLanes)
        hn::Store(is_empty ? hn::Zero(d) : hn::Mul(hn::Load(d, result + i), factor), d, result + i);
      const std::size_t at = token(row) * a_.out_stride + (rows.head + row / queries_) * a_.value_size;
      if (a_.halves == nullptr)
        pack_rows(result, s_.value_width, 1, a_.value_size, a_.value_size, a_.out + at);
      else
        round_row_to_halves(result, a_.value_size, a_.halves + at);
    }
  }

  const AttentionArguments& a_;
  const AttentionTask& task_;
  FewScratch s_;
  Visibility sees_;
  std::size_t queries_, group_, first_kv_head_;
  HeadRows k_, v_;  // of the first key/value head
};

inline void attend_few(const AttentionArguments& a, const AttentionTask& task, float* scratch) {
  switch (a.k.numbers) {
    case StoredNumbers::f32: return FewQueries<StoredNumbers::f32>(a, task, scratch).run();
    case StoredNumbers::f16: return FewQueries<StoredNumbers::f16>(a, task, scratch).run();
    case StoredNumbers::bf16: return FewQueries<StoredNumbers::bf16>(a, task, scratch).run();
    case StoredNumbers::i8: return FewQueries<StoredNumbers::i8>(a, task, scratch).run();
  }
}

inline std::size_t few_scratch_floats(std::size_t head_size, std::size_t value_size) {
  return FewScratch::floats(head_size, value_size);
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
