#include "backends/cpu/kernels/elementwise.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {
namespace {

// Ranges of a contiguous array start on cache lines, so that two workers do not write the same one.
constexpr std::size_t kSpan = 64;

template <typename Run>
void split_array(std::size_t n, std::size_t cost, base::ThreadPool& pool, std::size_t max_workers, const Run& run) {
  split_rows((n + kSpan - 1) / kSpan, kSpan * cost, pool, max_workers,
             [&](std::size_t begin, std::size_t end) { run(begin * kSpan, std::min(end * kSpan, n) - begin * kSpan); });
}

template <typename T>
bool is_flat(const BroadcastOperand<T>& operand, std::size_t width) {
  return (operand.step == 1 && operand.row_step == width) || (operand.step == 0 && operand.row_step == 0);
}

template <typename T>
BroadcastOperand<T> advance(BroadcastOperand<T> operand, std::size_t rows, std::size_t elements) {
  operand.data += rows * operand.row_step + elements * operand.step;
  return operand;
}

template <typename Out, typename Kernel, typename... Operands>
void over_rows(Kernel kernel, Out* out, std::size_t rows, std::size_t width, base::ThreadPool& pool,
               std::size_t max_workers, const Operands&... operands) {
  if (rows == 0 || width == 0) return;
  if ((is_flat(operands, width) && ...)) {  // one long row, which may be cut anywhere
    split_array(rows * width, 1, pool, max_workers, [&](std::size_t begin, std::size_t count) {
      kernel(advance(operands, 0, begin)..., out + begin, 1, count);
    });
    return;
  }
  split_rows(rows, width, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    kernel(advance(operands, begin, 0)..., out + begin * width, end - begin, width);
  });
}

}  // namespace

void unary(UnaryOp op, const float* x, float* y, std::size_t n, base::ThreadPool& pool, std::size_t max_workers,
           const Kernels& set) {
  split_array(n, 4, pool, max_workers,
              [&](std::size_t begin, std::size_t count) { set.simd.unary(op, x + begin, y + begin, count); });
}

void apply_activation(Activation activation, float* x, std::size_t n, base::ThreadPool& pool, std::size_t max_workers,
                      const Kernels& set) {
  split_array(n, 4, pool, max_workers,
              [&](std::size_t begin, std::size_t count) { set.simd.apply_activation(activation, x + begin, count); });
}

void binary(BinaryOp op, BroadcastOperand<float> a, BroadcastOperand<float> b, float* out, std::size_t rows,
            std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& x, const auto& y, float* to, std::size_t r, std::size_t w) {
    set.simd.binary(op, x, y, to, r, w);
  };
  over_rows(kernel, out, rows, width, pool, max_workers, a, b);
}

void compare(CompareOp op, BroadcastOperand<float> a, BroadcastOperand<float> b, std::uint8_t* out, std::size_t rows,
             std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& x, const auto& y, std::uint8_t* to, std::size_t r, std::size_t w) {
    set.simd.compare_f32(op, x, y, to, r, w);
  };
  over_rows(kernel, out, rows, width, pool, max_workers, a, b);
}

void compare(CompareOp op, BroadcastOperand<std::int32_t> a, BroadcastOperand<std::int32_t> b, std::uint8_t* out,
             std::size_t rows, std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& x, const auto& y, std::uint8_t* to, std::size_t r, std::size_t w) {
    set.simd.compare_i32(op, x, y, to, r, w);
  };
  over_rows(kernel, out, rows, width, pool, max_workers, a, b);
}

void compare(CompareOp op, BroadcastOperand<std::uint8_t> a, BroadcastOperand<std::uint8_t> b, std::uint8_t* out,
             std::size_t rows, std::size_t width, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& x, const auto& y, std::uint8_t* to, std::size_t r, std::size_t w) {
    set.simd.compare_u8(op, x, y, to, r, w);
  };
  over_rows(kernel, out, rows, width, pool, max_workers, a, b);
}

void select(BroadcastOperand<std::uint8_t> condition, BroadcastOperand<std::uint32_t> a,
            BroadcastOperand<std::uint32_t> b, std::uint32_t* out, std::size_t rows, std::size_t width,
            base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& c, const auto& x, const auto& y, std::uint32_t* to, std::size_t r,
                          std::size_t w) { set.simd.select_32(c, x, y, to, r, w); };
  over_rows(kernel, out, rows, width, pool, max_workers, condition, a, b);
}

void select(BroadcastOperand<std::uint8_t> condition, BroadcastOperand<std::uint8_t> a,
            BroadcastOperand<std::uint8_t> b, std::uint8_t* out, std::size_t rows, std::size_t width,
            base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const auto kernel = [&](const auto& c, const auto& x, const auto& y, std::uint8_t* to, std::size_t r, std::size_t w) {
    set.simd.select_8(c, x, y, to, r, w);
  };
  over_rows(kernel, out, rows, width, pool, max_workers, condition, a, b);
}

}  // namespace alate::cpu
