// The loops of reduce.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

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

/// A row by blocks of kReduceBlock, whose results are joined in a binary tree: the rounding error grows with the
/// logarithm of the row's length.
constexpr std::size_t kReduceBlock = 4096;

template <ReduceOp kOp>
inline float reduce_row(const float* x, std::size_t n) {
  const float identity = reduce_identity<kOp>();
  float levels[64];  // levels[i] holds the result of 2^i blocks where bit i of `blocks` is set
  std::size_t blocks = 0;
  float last = identity;
  for (std::size_t begin = 0; begin < n; begin += kReduceBlock) {
    const std::size_t count = n - begin < kReduceBlock ? n - begin : kReduceBlock;
    float value = fold_row(
        x + begin, count, identity, identity,
        [](FloatVector a, FloatVector b) HWY_ATTR { return reduce_two<kOp>(a, b); },
        [](FloatVector a, FloatVector b) HWY_ATTR { return reduce_two<kOp>(a, b); },
        [](float a, float b) HWY_ATTR { return reduce_two_scalars<kOp>(a, b); });
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

/// [length, inner] -> columns [begin, end) of [inner]: sums of 128 rows, then the sum of those.
template <ReduceOp kOp>
inline void reduce_columns(const float* x, float* out, std::size_t length, std::size_t inner, std::size_t begin,
                           std::size_t end) {
  constexpr std::size_t kBlock = 128;
  const FloatTag d;
  const FloatVector identity = hn::Set(d, reduce_identity<kOp>());
  for_each_vector(end - begin, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    const std::size_t column = begin + i;
    FloatVector total = identity;
    for (std::size_t block = 0; block < length; block += kBlock) {
      const std::size_t rows = length - block < kBlock ? length - block : kBlock;
      FloatVector sum = identity;
      for (std::size_t row = 0; row < rows; ++row) sum = reduce_two<kOp>(sum, load(x + (block + row) * inner + column));
      total = reduce_two<kOp>(total, sum);
    }
    store(total, out + begin + i);
  });
}

template <ReduceOp kOp>
inline void reduce_part(const ReduceArguments& a, std::size_t begin, std::size_t end) {
  if (a.inner == 1) {
    for (std::size_t row = 0; row < a.outer; ++row) a.out[row] = reduce_row<kOp>(a.x + row * a.length, a.length);
  } else {
    for (std::size_t row = 0; row < a.outer; ++row) {
      reduce_columns<kOp>(a.x + row * a.length * a.inner, a.out + row * a.inner, a.length, a.inner, begin, end);
    }
  }
}

/// All rows of `a`, of each the columns [begin, end).
inline void reduce_part(ReduceOp op, const ReduceArguments& a, std::size_t begin, std::size_t end) {
  switch (op) {
    case ReduceOp::sum: return reduce_part<ReduceOp::sum>(a, begin, end);
    case ReduceOp::product: return reduce_part<ReduceOp::product>(a, begin, end);
    case ReduceOp::max: return reduce_part<ReduceOp::max>(a, begin, end);
    case ReduceOp::min: return reduce_part<ReduceOp::min>(a, begin, end);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
