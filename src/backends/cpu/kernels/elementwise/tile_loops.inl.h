// The compiler-vectorized loops of tile.h, for one instruction set: integers, comparisons, f64 arithmetic.
#pragma once

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

template <typename T>
struct Unsigned;
template <>
struct Unsigned<bool> {
  using Type = std::uint8_t;
};
template <>
struct Unsigned<std::int8_t> {
  using Type = std::uint8_t;
};
template <>
struct Unsigned<std::int16_t> {
  using Type = std::uint16_t;
};
template <>
struct Unsigned<std::int32_t> {
  using Type = std::uint32_t;
};
template <>
struct Unsigned<std::int64_t> {
  using Type = std::uint64_t;
};
template <>
struct Unsigned<std::uint8_t> {
  using Type = std::uint8_t;
};
template <>
struct Unsigned<std::uint16_t> {
  using Type = std::uint16_t;
};
template <>
struct Unsigned<std::uint32_t> {
  using Type = std::uint32_t;
};
template <>
struct Unsigned<std::uint64_t> {
  using Type = std::uint64_t;
};
template <>
struct Unsigned<float> {
  using Type = std::uint32_t;
};
template <>
struct Unsigned<double> {
  using Type = std::uint64_t;
};

template <typename T>
constexpr bool kIsFloat = static_cast<T>(0.5) != static_cast<T>(0);
template <typename T>
constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);

template <typename T>
constexpr unsigned kBits = 8 * sizeof(T);

template <typename To, typename From>
HWY_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// Integers wider than int wrap through their unsigned type; narrower ones are promoted, and wrap when stored.
template <typename T>
using Wrapping = typename Unsigned<T>::Type;

struct Abs {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      using U = typename Unsigned<T>::Type;
      return bits_as<T>(static_cast<U>(bits_as<U>(x) & (static_cast<U>(-1) >> 1)));
    } else if constexpr (kIsSigned<T>) {
      return x < 0 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)) : x;
    } else {
      return x;
    }
  }
};
struct Negate {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    if constexpr (kIsFloat<T>)
      return -x;
    else
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
  }
};
struct Sign {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    const T least = kIsSigned<T> && x < T(0) ? static_cast<T>(-1) : x;  // 0 of either sign, or NaN, stay
    return x > T(0) ? T(1) : least;
  }
};
struct BitwiseNot {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct LogicalNot {
  HWY_INLINE std::uint8_t operator()(std::uint8_t x) const { return x == 0; }
};
struct PopulationCount {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    return static_cast<T>(__builtin_popcountll(static_cast<typename Unsigned<T>::Type>(x)));
  }
};
struct CountLeadingZeros {
  template <typename T>
  HWY_INLINE T operator()(T x) const {
    const std::uint64_t bits = static_cast<typename Unsigned<T>::Type>(x);
    return static_cast<T>(bits == 0 ? kBits<T> : static_cast<unsigned>(__builtin_clzll(bits)) - (64 - kBits<T>));
  }
};
struct IsFinite {
  template <typename T>
  HWY_INLINE std::uint8_t operator()(T x) const {
    return x - x == T(0);
  }
};
struct IsNan {
  template <typename T>
  HWY_INLINE std::uint8_t operator()(T x) const {
    return x != x;
  }
};

struct Add {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>)
      return x + y;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};
struct Subtract {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>)
      return x - y;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
  }
};
struct Multiply {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>) return x * y;
    // 16-bit numbers would be multiplied as int, which can overflow.
    else if constexpr (sizeof(T) < 4)
      return static_cast<T>(static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y));
    else
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};
/// A quotient by zero is -1, or all ones; the lowest number by -1 wraps.
struct Divide {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>)
      return x / y;
    else if (y == 0)
      return static_cast<T>(-1);
    else if (kIsSigned<T> && y == static_cast<T>(-1))
      return Negate()(x);
    else
      return static_cast<T>(x / y);
  }
};
/// The remainder has the sign of x; by zero it is x.
struct Remainder {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if (y == 0) return x;
    if (kIsSigned<T> && y == static_cast<T>(-1)) return 0;
    return static_cast<T>(x % y);
  }
};
/// Repeated multiplication. With a negative exponent the result is 1 or -1 for those bases, otherwise 0.
struct Power {
  template <typename T>
  HWY_INLINE T operator()(T base, T exponent) const {
    if (kIsSigned<T> && exponent < T(0)) {
      if (base == T(1)) return 1;
      return base == static_cast<T>(-1) ? ((exponent & 1) != 0 ? static_cast<T>(-1) : T(1)) : T(0);
    }
    T result = 1;
    for (auto left = static_cast<typename Unsigned<T>::Type>(exponent); left != 0;
         left = static_cast<decltype(left)>(left >> 1)) {
      if ((left & 1) != 0) result = Multiply()(result, base);
      base = Multiply()(base, base);
    }
    return result;
  }
};
struct Maximum {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>) {
      // +0 is larger than -0.
      const T larger =
          x > y || (x == y && bits_as<typename Unsigned<T>::Type>(x) < bits_as<typename Unsigned<T>::Type>(y)) ? x : y;
      return x != x ? x : (y != y ? y : larger);
    } else {
      return x > y ? x : y;
    }
  }
};
struct Minimum {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    if constexpr (kIsFloat<T>) {
      const T smaller =
          x < y || (x == y && bits_as<typename Unsigned<T>::Type>(x) > bits_as<typename Unsigned<T>::Type>(y)) ? x : y;
      return x != x ? x : (y != y ? y : smaller);
    } else {
      return x < y ? x : y;
    }
  }
};
struct BitwiseAnd {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
struct BitwiseOr {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
struct BitwiseXor {
  template <typename T>
  HWY_INLINE T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};
// Amounts are unsigned; shifting by the width or more leaves zeros, or sign bits.
struct ShiftLeft {
  template <typename T>
  HWY_INLINE T operator()(T x, T amount) const {
    using U = typename Unsigned<T>::Type;
    const U by = static_cast<U>(amount);
    return by < kBits<T> ? static_cast<T>(static_cast<U>(x) << by) : T(0);
  }
};
struct ShiftRightLogical {
  template <typename T>
  HWY_INLINE T operator()(T x, T amount) const {
    using U = typename Unsigned<T>::Type;
    const U by = static_cast<U>(amount);
    return by < kBits<T> ? static_cast<T>(static_cast<U>(x) >> by) : T(0);
  }
};
template <typename T>
struct SignedOf;
template <>
struct SignedOf<std::uint8_t> {
  using Type = std::int8_t;
};
template <>
struct SignedOf<std::uint16_t> {
  using Type = std::int16_t;
};
template <>
struct SignedOf<std::uint32_t> {
  using Type = std::int32_t;
};
template <>
struct SignedOf<std::uint64_t> {
  using Type = std::int64_t;
};
struct ShiftRightArithmetic {
  template <typename T>
  HWY_INLINE T operator()(T x, T amount) const {
    using U = typename Unsigned<T>::Type;
    const U by = static_cast<U>(amount);
    const auto value = static_cast<typename SignedOf<U>::Type>(x);
    return static_cast<T>(value >> (by < kBits<T> ? by : kBits<T> - 1));
  }
};

/// The bits as a signed number, ordered by IEEE 754's totalOrder.
template <typename T>
HWY_INLINE auto total_order(T x) {
  using U = typename Unsigned<T>::Type;
  const auto bits = bits_as<typename SignedOf<U>::Type>(x);
  return static_cast<typename SignedOf<U>::Type>(
      bits < 0 ? bits ^ static_cast<typename SignedOf<U>::Type>(static_cast<U>(-1) >> 1) : bits);
}

#define ALATE_COMPARISON(Name, op)                       \
  struct Name {                                          \
    template <typename T>                                \
    HWY_INLINE std::uint8_t operator()(T x, T y) const { \
      return x op y;                                     \
    }                                                    \
  };                                                     \
  struct Name##TotalOrder {                              \
    template <typename T>                                \
    HWY_INLINE std::uint8_t operator()(T x, T y) const { \
      if constexpr (kIsFloat<T>)                         \
        return total_order(x) op total_order(y);         \
      else                                               \
        return x op y;                                   \
    }                                                    \
  };
ALATE_COMPARISON(Equal, ==)
ALATE_COMPARISON(NotEqual, !=)
ALATE_COMPARISON(Less, <)
ALATE_COMPARISON(LessEqual, <=)
ALATE_COMPARISON(Greater, >)
ALATE_COMPARISON(GreaterEqual, >=)
#undef ALATE_COMPARISON

template <typename F, typename T, typename R>
void map_one(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* x = static_cast<const T*>(operands[0]);
  R* to = static_cast<R*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = F()(x[i]);
}
template <typename F, typename T, typename R>
void map_two(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* x = static_cast<const T*>(operands[0]);
  const T* y = static_cast<const T*>(operands[1]);
  R* to = static_cast<R*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = F()(x[i], y[i]);
}
template <typename T>
void map_select(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const std::uint8_t* condition = static_cast<const std::uint8_t*>(operands[0]);
  const T* x = static_cast<const T*>(operands[1]);
  const T* y = static_cast<const T*>(operands[2]);
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? x[i] : y[i];
}
template <typename T>
void map_clamp(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const T* low = static_cast<const T*>(operands[0]);
  const T* x = static_cast<const T*>(operands[1]);
  const T* high = static_cast<const T*>(operands[2]);
  T* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = Minimum()(Maximum()(x[i], low[i]), high[i]);
}

template <typename F, typename T>
constexpr TileKernel one() {
  return {map_one<F, T, T>, 0};
}
template <typename F, typename T>
constexpr TileKernel two() {
  return {map_two<F, T, T>, 0};
}
template <typename F, typename T>
constexpr TileKernel test() {
  return {map_two<F, T, std::uint8_t>, 0};
}

/// The functions of every ordered type.
template <typename T>
inline TileKernel ordered_tile(TileOp op) {
  switch (op) {
    case TileOp::equal: return test<Equal, T>();
    case TileOp::not_equal: return test<NotEqual, T>();
    case TileOp::less: return test<Less, T>();
    case TileOp::less_equal: return test<LessEqual, T>();
    case TileOp::greater: return test<Greater, T>();
    case TileOp::greater_equal: return test<GreaterEqual, T>();
    case TileOp::equal_total_order: return test<EqualTotalOrder, T>();
    case TileOp::not_equal_total_order: return test<NotEqualTotalOrder, T>();
    case TileOp::less_total_order: return test<LessTotalOrder, T>();
    case TileOp::less_equal_total_order: return test<LessEqualTotalOrder, T>();
    case TileOp::greater_total_order: return test<GreaterTotalOrder, T>();
    case TileOp::greater_equal_total_order: return test<GreaterEqualTotalOrder, T>();
    case TileOp::maximum: return two<Maximum, T>();
    case TileOp::minimum: return two<Minimum, T>();
    case TileOp::clamp: return {map_clamp<T>, 0};
    default: return {};
  }
}

template <typename T>
inline TileKernel integer_tile(TileOp op) {
  switch (op) {
    case TileOp::abs: return one<Abs, T>();
    case TileOp::negate: return one<Negate, T>();
    case TileOp::sign: return one<Sign, T>();
    case TileOp::bitwise_not: return one<BitwiseNot, T>();
    case TileOp::population_count: return one<PopulationCount, T>();
    case TileOp::count_leading_zeros: return one<CountLeadingZeros, T>();
    case TileOp::add: return two<Add, T>();
    case TileOp::subtract: return two<Subtract, T>();
    case TileOp::multiply: return two<Multiply, T>();
    case TileOp::divide: return two<Divide, T>();
    case TileOp::remainder: return two<Remainder, T>();
    case TileOp::power: return two<Power, T>();
    case TileOp::bitwise_and: return two<BitwiseAnd, T>();
    case TileOp::bitwise_or: return two<BitwiseOr, T>();
    case TileOp::bitwise_xor: return two<BitwiseXor, T>();
    case TileOp::shift_left: return two<ShiftLeft, T>();
    case TileOp::shift_right_arithmetic: return two<ShiftRightArithmetic, T>();
    case TileOp::shift_right_logical: return two<ShiftRightLogical, T>();
    default: return ordered_tile<T>(op);
  }
}

/// The functions that f32 and f64 share.
template <typename T>
inline TileKernel float_tile(TileOp op) {
  switch (op) {
    case TileOp::is_finite: return {map_one<IsFinite, T, std::uint8_t>, 0};
    case TileOp::is_nan: return {map_one<IsNan, T, std::uint8_t>, 0};
    case TileOp::abs: return one<Abs, T>();
    case TileOp::negate: return one<Negate, T>();
    case TileOp::sign: return one<Sign, T>();
    case TileOp::add: return two<Add, T>();
    case TileOp::subtract: return two<Subtract, T>();
    case TileOp::multiply: return two<Multiply, T>();
    case TileOp::divide: return two<Divide, T>();
    default: return ordered_tile<T>(op);
  }
}

/// Truth values: a sum is "or", a product is "and".
inline TileKernel bool_tile(TileOp op) {
  using T = std::uint8_t;
  switch (op) {
    case TileOp::bitwise_not: return one<LogicalNot, T>();
    case TileOp::add:
    case TileOp::maximum:
    case TileOp::bitwise_or: return two<BitwiseOr, T>();
    case TileOp::multiply:
    case TileOp::minimum:
    case TileOp::bitwise_and: return two<BitwiseAnd, T>();
    case TileOp::bitwise_xor: return two<BitwiseXor, T>();
    default: return ordered_tile<T>(op);
  }
}

/// select, by element size.
inline TileKernel select_tile(std::size_t bytes) {
  struct Wide {
    std::uint64_t low, high;
  };
  switch (bytes) {
    case 1: return {map_select<std::uint8_t>, 0};
    case 2: return {map_select<std::uint16_t>, 0};
    case 4: return {map_select<std::uint32_t>, 0};
    case 8: return {map_select<std::uint64_t>, 0};
    default: return {map_select<Wide>, 0};
  }
}

inline TileKernel tile_loop(TileOp op, DType dtype, std::size_t bytes) {
  if (op == TileOp::select) return select_tile(bytes);
  switch (dtype) {
    case DType::boolean: return bool_tile(op);
    case DType::i8: return integer_tile<std::int8_t>(op);
    case DType::i16: return integer_tile<std::int16_t>(op);
    case DType::i32: return integer_tile<std::int32_t>(op);
    case DType::i64: return integer_tile<std::int64_t>(op);
    case DType::u8: return integer_tile<std::uint8_t>(op);
    case DType::u16: return integer_tile<std::uint16_t>(op);
    case DType::u32: return integer_tile<std::uint32_t>(op);
    case DType::u64: return integer_tile<std::uint64_t>(op);
    case DType::f32: return float_tile<float>(op);
    case DType::f64: return float_tile<double>(op);
    default: return {};
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
