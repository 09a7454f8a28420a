// The loops of reduce.h over f32 for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/kernels/vectors/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

enum class ReduceOp : std::uint8_t { sum, product, max, min };

/// The greater; NaN when either is.
template <class V>
HWY_INLINE V max_or_nan(V a, V b) {
  const V greater = hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b));
  return hn::IfThenElse(hn::IsNaN(a), a, greater);
}

/// The lesser; NaN when either is.
template <class V>
HWY_INLINE V min_or_nan(V a, V b) {
  const V lesser = hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b));
  return hn::IfThenElse(hn::IsNaN(a), a, lesser);
}

template <ReduceOp kOp, class V>
HWY_INLINE V reduce_two(V a, V b) {
  if constexpr (kOp == ReduceOp::sum) return hn::Add(a, b);
  if constexpr (kOp == ReduceOp::product) return hn::Mul(a, b);
  if constexpr (kOp == ReduceOp::max) return max_or_nan(a, b);
  if constexpr (kOp == ReduceOp::min) return min_or_nan(a, b);
}

template <ReduceOp kOp>
HWY_INLINE float reduce_identity() {
  const FloatTag d;
  if constexpr (kOp == ReduceOp::sum) return 0.0f;
  if constexpr (kOp == ReduceOp::product) return 1.0f;
  if constexpr (kOp == ReduceOp::max) return hn::GetLane(hn::Neg(hn::Inf(d)));
  if constexpr (kOp == ReduceOp::min) return hn::GetLane(hn::Inf(d));
}

template <ReduceOp kOp>
HWY_INLINE float reduce_two_scalars(float a, float b) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(reduce_two<kOp>(hn::Set(d, a), hn::Set(d, b)));
}

constexpr bool is_extreme(ReduceOp op) { return op == ReduceOp::max || op == ReduceOp::min; }

/// The running reduction, per lane. Extremes track NaN separately, which costs less than propagating it through each
/// comparison.
template <ReduceOp kOp>
class Reduced {
 public:
  HWY_INLINE Reduced() : value_(hn::Set(FloatTag(), reduce_identity<kOp>())), nan_(hn::IsNaN(hn::Zero(FloatTag()))) {}

  HWY_INLINE void add(FloatVector v) {
    note(v);
    value_ = join(value_, v);
  }
  /// Records NaNs in a vector that is joined.
  HWY_INLINE void note(FloatVector v) {
    if constexpr (is_extreme(kOp)) nan_ = hn::Or(nan_, hn::IsNaN(v));
  }
  HWY_INLINE static FloatVector join(FloatVector a, FloatVector b) {
    if constexpr (kOp == ReduceOp::max) return hn::Max(a, b);
    if constexpr (kOp == ReduceOp::min) return hn::Min(a, b);
    if constexpr (!is_extreme(kOp)) return reduce_two<kOp>(a, b);
  }
  HWY_INLINE bool has_nan() const { return is_extreme(kOp) && !hn::AllFalse(FloatTag(), nan_); }
  HWY_INLINE FloatVector value() const {
    return is_extreme(kOp) ? hn::IfThenElse(nan_, hn::NaN(FloatTag()), value_) : value_;
  }

 private:
  FloatVector value_;
  hn::Mask<FloatTag> nan_;
};

/// Joins two scalars.
template <ReduceOp kOp>
HWY_INLINE float join_scalars(float a, float b) {
  if constexpr (kOp == ReduceOp::max) return a > b ? a : b;
  if constexpr (kOp == ReduceOp::min) return a < b ? a : b;
  if constexpr (!is_extreme(kOp)) return reduce_two_scalars<kOp>(a, b);
}

template <ReduceOp kOp>
HWY_INLINE float reduce_block(const float* x, std::size_t n) {
  const float identity = reduce_identity<kOp>();
  Reduced<kOp> seen;
  const float value = fold_row(
      x, n, identity, identity,
      [&](FloatVector a, FloatVector b) HWY_ATTR {
        seen.note(b);
        return Reduced<kOp>::join(a, b);
      },
      [](FloatVector a, FloatVector b) HWY_ATTR { return Reduced<kOp>::join(a, b); },
      [](float a, float b) HWY_ATTR { return join_scalars<kOp>(a, b); });
  return seen.has_nan() ? hn::GetLane(hn::NaN(FloatTag())) : value;
}

/// Reduces a row in blocks of kReduceBlock, joined in a binary tree: the rounding error grows with the logarithm of the
/// row's length.
constexpr std::size_t kReduceBlock = 4096;

template <ReduceOp kOp>
inline float reduce_row(const float* x, std::size_t n) {
  float levels[64];  // levels[i] holds the result of 2^i blocks where bit i of `blocks` is set
  std::size_t blocks = 0;
  float last = reduce_identity<kOp>();
  for (std::size_t begin = 0; begin < n; begin += kReduceBlock) {
    const std::size_t count = n - begin < kReduceBlock ? n - begin : kReduceBlock;
    float value = reduce_block<kOp>(x + begin, count);
    if (n <= kReduceBlock) return value;
    std::size_t level = 0;
    for (; (blocks >> level) & 1; ++level) value = reduce_two_scalars<kOp>(levels[level], value);
    levels[level] = value;
    ++blocks;
  }
  for (std::size_t level = 0; blocks >> level; ++level) {
    if ((blocks >> level) & 1) last = reduce_two_scalars<kOp>(levels[level], last);
  }
  return last;
}

/// Reduces the columns of [length, inner], kVectors vectors of columns side by side: sums of 128 rows, then the sum of
/// those sums.
template <ReduceOp kOp, std::size_t kVectors, class Load, class Store>
HWY_INLINE void reduce_column_vectors(const float* x, std::size_t length, std::size_t inner, const Load& load,
                                      const Store& store) {
  constexpr std::size_t kBlock = 128;
  const FloatTag d;
  FloatVector totals[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) totals[v] = hn::Set(d, reduce_identity<kOp>());
  for (std::size_t block = 0; block < length; block += kBlock) {
    const std::size_t end = length - block < kBlock ? length : block + kBlock;
    Reduced<kOp> sums[kVectors];
    for (std::size_t row = block; row < end; ++row) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) sums[v].add(load(x + row * inner + v * hn::Lanes(d)));
    }
    for (std::size_t v = 0; v < kVectors; ++v) totals[v] = reduce_two<kOp>(totals[v], sums[v].value());
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(totals[v], v * hn::Lanes(d));
}

/// [length, inner] -> columns [begin, end) of [inner]. Where rows are far apart, eight vectors of each are read at
/// once.
template <ReduceOp kOp>
inline void reduce_columns(const float* x, float* out, std::size_t length, std::size_t inner, std::size_t begin,
                           std::size_t end) {
  constexpr std::size_t kVectors = 8;
  const FloatTag d;
  if (length == 0) {  // then x may be null
    for (std::size_t i = begin; i < end; ++i) out[i] = reduce_identity<kOp>();
    return;
  }
  const std::size_t wide = kVectors * hn::Lanes(d);
  for (; begin + wide <= end; begin += wide) {
    reduce_column_vectors<kOp, kVectors>(
        x + begin, length, inner, [d](const float* p) HWY_ATTR { return hn::LoadU(d, p); },
        [&](FloatVector v, std::size_t i) HWY_ATTR { hn::StoreU(v, d, out + begin + i); });
  }
  for_each_vector(end - begin, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    reduce_column_vectors<kOp, 1>(x + begin + i, length, inner, load,
                                  [&](FloatVector v, std::size_t) HWY_ATTR { store(v, out + begin + i); });
  });
}

template <ReduceOp kOp>
void reduce_f32(const ReduceArguments& a, std::size_t begin, std::size_t end) {
  const auto* x = static_cast<const float*>(a.x);
  auto* out = static_cast<float*>(a.out);
  for (std::size_t row = 0; row < a.outer; ++row) {
    const float* from = x + row * a.length * a.inner;
    if (a.inner == 1)
      out[row] = reduce_row<kOp>(from, a.length);
    else
      reduce_columns<kOp>(from, out + row * a.inner, a.length, a.inner, begin, end);
  }
}

inline ReduceLoop find_reduce_loop_f32(TileOp op) {
  switch (op) {
    case TileOp::add: return reduce_f32<ReduceOp::sum>;
    case TileOp::multiply: return reduce_f32<ReduceOp::product>;
    case TileOp::maximum: return reduce_f32<ReduceOp::max>;
    case TileOp::minimum: return reduce_f32<ReduceOp::min>;
    default: return nullptr;
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
