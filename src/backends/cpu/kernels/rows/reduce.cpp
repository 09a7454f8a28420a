#include "backends/cpu/kernels/rows/reduce.h"

#include <algorithm>
#include <array>
#include <complex>

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// c64 is summed in double.
template <typename T, bool kProduct>
void reduce_complex(const ReduceArguments& arguments, std::size_t begin, std::size_t end) {
  const auto* x = static_cast<const std::complex<T>*>(arguments.x);
  auto* out = static_cast<std::complex<T>*>(arguments.out);
  for (std::size_t row = 0; row < arguments.outer; ++row) {
    for (std::size_t column = begin; column < end; ++column) {
      std::complex<double> result = kProduct ? 1 : 0;
      const auto* from = x + row * arguments.length * arguments.inner + column;
      for (std::size_t i = 0; i < arguments.length; ++i) {
        const std::complex<double> value(from[i * arguments.inner]);
        if constexpr (kProduct) {
          result = {result.real() * value.real() - result.imag() * value.imag(),
                    result.real() * value.imag() + result.imag() * value.real()};
        } else {
          result += value;
        }
      }
      out[row * arguments.inner + column] = std::complex<T>(result);
    }
  }
}

constexpr std::size_t kFewRows = 4, kFewColumns = 16;
constexpr std::size_t kPart = std::size_t{1} << 16, kMaxParts = 64;  // length and number of the parts of long rows
constexpr std::size_t kMaxElementBytes = 16;

ReduceArguments rows_of(const ReduceArguments& all, std::size_t bytes, std::size_t begin, std::size_t end) {
  return {.x = static_cast<const std::byte*>(all.x) + begin * all.length * all.inner * bytes,
          .out = static_cast<std::byte*>(all.out) + begin * all.inner * bytes,
          .outer = end - begin,
          .length = all.length,
          .inner = all.inner};
}

// For few long rows: reduces each in parts, then the parts' results. The number of parts depends only on the length, so
// that the result does not depend on the threads.
void reduce_long(ReduceLoop loop, std::size_t bytes, const ReduceArguments& all, base::ThreadPool& pool,
                 std::size_t max_workers) {
  const std::size_t pieces = (all.length + kPart - 1) / kPart;
  const std::size_t part_length = (pieces + kMaxParts - 1) / kMaxParts * kPart;
  const std::size_t parts = (all.length + part_length - 1) / part_length;
  alignas(64) std::array<std::byte, kMaxParts * kFewColumns * kMaxElementBytes> results;
  for (std::size_t row = 0; row < all.outer; ++row) {
    const ReduceArguments one = rows_of(all, bytes, row, row + 1);
    split_rows(parts, part_length * all.inner, pool, max_workers, [&](std::size_t begin, std::size_t end) {
      for (std::size_t part = begin; part < end; ++part) {
        const std::size_t first = part * part_length;
        loop({.x = static_cast<const std::byte*>(one.x) + first * all.inner * bytes,
              .out = results.data() + part * all.inner * bytes,
              .outer = 1,
              .length = std::min(part_length, all.length - first),
              .inner = all.inner},
             0, all.inner);
      }
    });
    loop({.x = results.data(), .out = one.out, .outer = 1, .length = parts, .inner = all.inner}, 0, all.inner);
  }
}

}  // namespace

ReduceLoop reduce_loop_complex(TileOp op, DType dtype) {
  const bool is_product = op == TileOp::multiply;
  if (!is_product && op != TileOp::add) return nullptr;
  if (dtype == DType::c64) return is_product ? reduce_complex<float, true> : reduce_complex<float, false>;
  return is_product ? reduce_complex<double, true> : reduce_complex<double, false>;
}

ReduceLoop reduce_loop(TileOp op, DType dtype, const Kernels& set) {
  return is_complex(dtype) ? reduce_loop_complex(op, dtype) : row_kernels(set).reduce_loop(op, dtype);
}

void reduce(TileOp op, DType dtype, const ReduceArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
            const Kernels& set) {
  const ReduceLoop loop = reduce_loop(op, dtype, set);
  const std::size_t bytes = bytes_for(dtype, 1);
  if (arguments.outer < kFewRows && arguments.inner <= kFewColumns && arguments.length >= 2 * kPart) {
    reduce_long(loop, bytes, arguments, pool, max_workers);
  } else if (arguments.outer >= kFewRows || arguments.inner == 1) {
    split_rows(
        arguments.outer, arguments.length * arguments.inner, pool, max_workers,
        [&](std::size_t begin, std::size_t end) { loop(rows_of(arguments, bytes, begin, end), 0, arguments.inner); });
  } else {
    constexpr std::size_t kColumns = 64;  // whole cache lines for every type
    split_rows((arguments.inner + kColumns - 1) / kColumns, arguments.outer * arguments.length * kColumns, pool,
               max_workers, [&](std::size_t begin, std::size_t end) {
                 loop(arguments, begin * kColumns, std::min(end * kColumns, arguments.inner));
               });
  }
}

}  // namespace alate::cpu
