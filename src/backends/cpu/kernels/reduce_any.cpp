#include "backends/cpu/kernels/reduce_any.h"

#include <algorithm>
#include <complex>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {
namespace {

// c64 is summed in double.
template <typename T, bool kProduct>
void reduce_complex(const ReduceAnyArguments& arguments, std::size_t begin, std::size_t end) {
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

}  // namespace

ReduceLoop reduce_loop_complex(TileOp op, DType dtype) {
  const bool is_product = op == TileOp::multiply;
  if (!is_product && op != TileOp::add) return nullptr;
  if (dtype == DType::c64) return is_product ? reduce_complex<float, true> : reduce_complex<float, false>;
  return is_product ? reduce_complex<double, true> : reduce_complex<double, false>;
}

ReduceLoop reduce_loop(TileOp op, DType dtype, const Kernels& set) {
  return is_complex(dtype) ? reduce_loop_complex(op, dtype) : set.simd.reduce_loop(op, dtype);
}

void reduce_any(ReduceLoop loop, const ReduceAnyArguments& arguments, std::size_t element_bytes, base::ThreadPool& pool,
                std::size_t max_workers) {
  const std::size_t cost = arguments.length * arguments.inner;
  if (arguments.outer >= 4 || arguments.inner == 1) {
    split_rows(arguments.outer, cost, pool, max_workers, [&](std::size_t begin, std::size_t end) {
      ReduceAnyArguments part = arguments;
      part.x = static_cast<const std::byte*>(arguments.x) + begin * cost * element_bytes;
      part.out = static_cast<std::byte*>(arguments.out) + begin * arguments.inner * element_bytes;
      part.outer = end - begin;
      loop(part, 0, arguments.inner);
    });
    return;
  }
  constexpr std::size_t kColumns = 64;  // whole lines of the cache for every type
  split_rows((arguments.inner + kColumns - 1) / kColumns, arguments.outer * arguments.length * kColumns, pool,
             max_workers, [&](std::size_t begin, std::size_t end) {
               loop(arguments, begin * kColumns, std::min(end * kColumns, arguments.inner));
             });
}

}  // namespace alate::cpu
