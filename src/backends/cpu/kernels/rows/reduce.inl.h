// The loops of reduce.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/elementwise/tile_loops.inl.h"
#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/kernels/rows/reduce_f32.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// The identity element.
template <typename F, typename T>
struct Identity;
template <typename T>
struct Identity<Add, T> {
  static T value() { return T(0); }
};
template <typename T>
struct Identity<Multiply, T> {
  static T value() { return T(1); }
};
template <typename T>
struct Identity<BitwiseOr, T> {
  static T value() { return T(0); }
};
template <typename T>
struct Identity<BitwiseXor, T> {
  static T value() { return T(0); }
};
template <typename T>
struct Identity<BitwiseAnd, T> {
  static T value() { return static_cast<T>(~T(0)); }
};
template <typename T>
HWY_INLINE T lowest_value() {
  if constexpr (kIsFloat<T>)
    return -static_cast<T>(__builtin_huge_val());
  else if constexpr (kIsSigned<T>)
    return static_cast<T>(Wrapping<T>(1) << (kBits<T> - 1));
  else
    return T(0);
}
template <typename T>
struct Identity<Maximum, T> {
  static T value() { return lowest_value<T>(); }
};
template <typename T>
struct Identity<Minimum, T> {
  static T value() {
    if constexpr (kIsFloat<T>)
      return static_cast<T>(__builtin_huge_val());
    else
      return static_cast<T>(~lowest_value<T>());
  }
};

/// Folds a row in a fixed number of parts, element i going to part i % kParts; parts are joined pairwise.
template <typename F, typename T>
HWY_INLINE T fold(const T* x, std::size_t n) {
  constexpr std::size_t kParts = 64 / sizeof(T) * 2;
  T parts[kParts];
  for (std::size_t j = 0; j < kParts; ++j) parts[j] = Identity<F, T>::value();
  std::size_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (std::size_t j = 0; j < kParts; ++j) parts[j] = F()(parts[j], x[i + j]);
  }
  for (std::size_t j = 0; i < n; ++i, ++j) parts[j] = F()(parts[j], x[i]);
  for (std::size_t half = kParts / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) parts[j] = F()(parts[j], parts[j + half]);
  }
  return parts[0];
}

/// Folds long rows by blocks, so that the rounding error of a sum does not grow with every element.
template <typename F, typename T>
inline T fold_blocks(const T* x, std::size_t n) {
  constexpr std::size_t kBlock = 4096;
  if (n <= kBlock) return fold<F>(x, n);
  T result = Identity<F, T>::value();
  for (std::size_t begin = 0; begin < n; begin += kBlock)
    result = F()(result, fold<F>(x + begin, n - begin < kBlock ? n - begin : kBlock));
  return result;
}

template <typename F, typename T>
void reduce_rows(const ReduceArguments& arguments, std::size_t begin, std::size_t end) {
  const std::size_t inner = arguments.inner, length = arguments.length;
  for (std::size_t row = 0; row < arguments.outer; ++row) {
    const T* x = static_cast<const T*>(arguments.x) + row * length * inner;
    T* out = static_cast<T*>(arguments.out) + row * inner;
    if (inner == 1) {
      *out = fold_blocks<F>(x, length);
      continue;
    }
    for (std::size_t column = begin; column < end; ++column) out[column] = Identity<F, T>::value();
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t column = begin; column < end; ++column) out[column] = F()(out[column], x[i * inner + column]);
    }
  }
}

template <typename T>
inline ReduceLoop reduce_ordered(TileOp op) {
  switch (op) {
    case TileOp::add: return reduce_rows<Add, T>;
    case TileOp::multiply: return reduce_rows<Multiply, T>;
    case TileOp::maximum: return reduce_rows<Maximum, T>;
    case TileOp::minimum: return reduce_rows<Minimum, T>;
    default: return nullptr;
  }
}

template <typename T>
inline ReduceLoop reduce_integers(TileOp op) {
  switch (op) {
    case TileOp::bitwise_and: return reduce_rows<BitwiseAnd, T>;
    case TileOp::bitwise_or: return reduce_rows<BitwiseOr, T>;
    case TileOp::bitwise_xor: return reduce_rows<BitwiseXor, T>;
    default: return reduce_ordered<T>(op);
  }
}

/// Bytes of 0 or 1: "and" is the smaller, "or" the larger; the identity of "and" must be 1.
struct And : Minimum {};
template <>
struct Identity<And, std::uint8_t> {
  static std::uint8_t value() { return 1; }
};
inline ReduceLoop reduce_bools(TileOp op) {
  switch (op) {
    case TileOp::add:
    case TileOp::maximum:
    case TileOp::bitwise_or: return reduce_rows<BitwiseOr, std::uint8_t>;
    case TileOp::multiply:
    case TileOp::minimum:
    case TileOp::bitwise_and: return reduce_rows<And, std::uint8_t>;
    case TileOp::bitwise_xor: return reduce_rows<BitwiseXor, std::uint8_t>;
    default: return nullptr;
  }
}

inline ReduceLoop find_reduce_loop(TileOp op, DType dtype) {
  switch (dtype) {
    case DType::boolean: return reduce_bools(op);
    case DType::i8: return reduce_integers<std::int8_t>(op);
    case DType::i16: return reduce_integers<std::int16_t>(op);
    case DType::i32: return reduce_integers<std::int32_t>(op);
    case DType::i64: return reduce_integers<std::int64_t>(op);
    case DType::u8: return reduce_integers<std::uint8_t>(op);
    case DType::u16: return reduce_integers<std::uint16_t>(op);
    case DType::u32: return reduce_integers<std::uint32_t>(op);
    case DType::u64: return reduce_integers<std::uint64_t>(op);
    case DType::f32: return find_reduce_loop_f32(op);
    case DType::f64: return reduce_ordered<double>(op);
    default: return nullptr;
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
