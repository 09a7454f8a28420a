// Elementwise arithmetic over contiguous or broadcast rows. Results do not depend on how the work is split.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/activation.h"
#include "backends/cpu/kernels/kernel_set.h"
#include "base/thread_pool.h"

namespace alate::cpu {

/// StableHLO's ops of these names on f32.
enum class UnaryOp : std::uint8_t {
  negate,
  abs,
  sign,
  floor,
  ceil,
  round_nearest_even,
  sqrt,
  rsqrt,
  exp,
  expm1,
  log,
  log1p,
  tanh,
  erf,
  logistic,
  sine,
  cosine,
  reciprocal,
  square
};
enum class BinaryOp : std::uint8_t { add, subtract, multiply, divide, maximum, minimum, power };
enum class CompareOp : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// An operand seen as [rows, width]: element (r, i) is data[r * row_step + i * step], step being 0 or 1. So a
/// contiguous matrix is {data, width, 1}, a [width] vector {data, 0, 1}, a [rows, 1] column {data, 1, 0}, and a
/// scalar {data, 0, 0}.
template <typename T>
struct BroadcastOperand {
  const T* data = nullptr;
  std::size_t row_step = 0;
  std::size_t step = 0;
};

/// y[i] = op(x[i]); y may be x.
void unary(UnaryOp op, const float* x, float* y, std::size_t n, base::ThreadPool& pool, std::size_t max_workers,
           const Kernels& set = kernels());

/// x[i] = activation(x[i]).
void apply_activation(Activation activation, float* x, std::size_t n, base::ThreadPool& pool, std::size_t max_workers,
                      const Kernels& set = kernels());

/// out[r, i] = op(a[r, i], b[r, i]); out is contiguous and may be an operand that is contiguous too. maximum and
/// minimum give NaN when either operand is NaN; power is that of the C library.
void binary(BinaryOp op, BroadcastOperand<float> a, BroadcastOperand<float> b, float* out, std::size_t rows,
            std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

/// out[r, i] = 1 where the comparison holds, else 0. NaN is unequal to all and otherwise unordered.
void compare(CompareOp op, BroadcastOperand<float> a, BroadcastOperand<float> b, std::uint8_t* out, std::size_t rows,
             std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());
void compare(CompareOp op, BroadcastOperand<std::int32_t> a, BroadcastOperand<std::int32_t> b, std::uint8_t* out,
             std::size_t rows, std::size_t width, base::ThreadPool& pool, std::size_t max_workers,
             const Kernels& set = kernels());
void compare(CompareOp op, BroadcastOperand<std::uint8_t> a, BroadcastOperand<std::uint8_t> b, std::uint8_t* out,
             std::size_t rows, std::size_t width, base::ThreadPool& pool, std::size_t max_workers,
             const Kernels& set = kernels());

/// out[r, i] = condition[r, i] is not 0 ? a[r, i] : b[r, i], the bits moved as they are: 32-bit elements of any type
/// (f32 and i32 through std::uint32_t), and bytes (bool).
void select(BroadcastOperand<std::uint8_t> condition, BroadcastOperand<std::uint32_t> a,
            BroadcastOperand<std::uint32_t> b, std::uint32_t* out, std::size_t rows, std::size_t width,
            base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());
void select(BroadcastOperand<std::uint8_t> condition, BroadcastOperand<std::uint8_t> a,
            BroadcastOperand<std::uint8_t> b, std::uint8_t* out, std::size_t rows, std::size_t width,
            base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
