#include "backends/cpu/kernels/windows/window.h"

#include <algorithm>
#include <complex>

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/windows/window_kernels.h"

namespace alate::cpu {
namespace {

template <typename T, bool kProduct>
void window_complex(const WindowPass& pass, std::size_t begin, std::size_t end) {
  using Number = std::complex<T>;
  for (std::size_t row = begin; row < end; ++row) {
    const Number* x = static_cast<const Number*>(pass.x) + row / pass.count * pass.extent * pass.inner;
    Number* out = static_cast<Number*>(pass.out) + row * pass.inner;
    std::fill_n(out, pass.inner, Number(kProduct ? 1 : 0));
    const std::int64_t start = static_cast<std::int64_t>(row % pass.count) * pass.stride - pass.low;
    const std::int64_t skipped = start < 0 ? (-start + pass.window_dilation - 1) / pass.window_dilation : 0;
    for (std::int64_t at = skipped; at < pass.window; ++at) {
      const std::int64_t position = start + at * pass.window_dilation;
      if (position % pass.base_dilation != 0) continue;
      const auto place = static_cast<std::size_t>(position / pass.base_dilation);
      if (place >= pass.extent) break;
      for (std::size_t i = 0; i < pass.inner; ++i) {
        const Number a = out[i], b = x[place * pass.inner + i];
        out[i] = kProduct ? Number(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real())
                          : a + b;
      }
    }
  }
}

}  // namespace

WindowLoop window_loop(TileOp op, DType dtype, const Kernels& set) {
  if (!is_complex(dtype)) return window_kernels(set).window_loop(op, dtype);
  if (op != TileOp::add && op != TileOp::multiply) return nullptr;
  const bool is_product = op == TileOp::multiply;
  if (dtype == DType::c64) return is_product ? window_complex<float, true> : window_complex<float, false>;
  return is_product ? window_complex<double, true> : window_complex<double, false>;
}

void reduce_window(WindowLoop loop, const WindowPass& pass, base::ThreadPool& pool, std::size_t max_workers) {
  const auto cost = static_cast<std::size_t>(std::min<std::int64_t>(pass.window, 1024)) * pass.inner;
  split_rows(pass.outer * pass.count, cost, pool, max_workers,
             [&](std::size_t begin, std::size_t end) { loop(pass, begin, end); });
}

}  // namespace alate::cpu
