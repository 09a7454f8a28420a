#include "backends/cpu/kernels/gemm/product.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {
namespace {

// A tile is a strip of rows times a panel; a task is a block of tiles large enough to hand to another thread.
constexpr std::size_t kTaskWork = 256 * 1024;
constexpr std::size_t kStripsPerBlock = 8;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

template <typename T>
void pack_panel(const T* w, std::size_t w_stride, std::size_t columns, std::size_t k, std::size_t width, T* to) {
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < k; ++i) to[i * width + j] = w[j * w_stride + i];
  }
  for (std::size_t i = 0; i < k; ++i) std::fill(to + i * width + columns, to + (i + 1) * width, T(0));
}

template <typename T>
void pack_panels(const T* w, std::size_t w_stride, std::size_t n, std::size_t k, std::size_t width, T* packed,
                 base::ThreadPool* pool) {
  const auto pack = [=](std::size_t panel, std::size_t) {
    const std::size_t first = panel * width;
    pack_panel(w + first * w_stride, w_stride, std::min(width, n - first), k, width, packed + first * k);
  };
  const std::size_t panels = divide_up(n, width);
  if (pool != nullptr) {
    pool->parallel_for(panels, 0, pack);
  } else {
    for (std::size_t panel = 0; panel < panels; ++panel) pack(panel, 0);
  }
}

template <typename T>
void expand(const std::complex<T>* w, std::size_t w_stride, std::size_t n, std::size_t k, T* out) {
  for (std::size_t j = 0; j < n; ++j) {
    T* real = out + 4 * j * k;
    T* imaginary = real + 2 * k;
    for (std::size_t i = 0; i < k; ++i) {
      const std::complex<T> value = w[j * w_stride + i];
      real[2 * i] = imaginary[2 * i + 1] = value.real();
      real[2 * i + 1] = -value.imag();
      imaginary[2 * i] = value.imag();
    }
  }
}

}  // namespace

std::size_t product_panel_width(DType dtype, const Kernels& set) {
  return dtype == DType::f32 ? gemm_kernels(set).f32.panel_width : product_loop(dtype, set).panel_width;
}

std::size_t packed_product_bytes(DType dtype, std::size_t n, std::size_t k, const Kernels& set) {
  if (dtype == DType::f32) return packed_word_count(n, k, gemm_kernels(set).f32) * sizeof(float);
  const std::size_t width = product_loop(dtype, set).panel_width;
  return divide_up(n, width) * width * k * (bits_of(dtype) / 8);
}

void pack_product(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k, void* packed,
                  base::ThreadPool* pool, const Kernels& set) {
  if (dtype == DType::f32)
    return pack_weights(static_cast<const float*>(w), w_stride, n, k, static_cast<float*>(packed), pool,
                        gemm_kernels(set).f32);
  const std::size_t width = product_loop(dtype, set).panel_width;
  const auto pack = [&]<typename T>(const T* from) {
    pack_panels(from, w_stride, n, k, width, static_cast<T*>(packed), pool);
  };
  switch (bits_of(dtype)) {
    case 16: return pack(static_cast<const std::uint16_t*>(w));
    case 32: return pack(static_cast<const std::uint32_t*>(w));
    default: return pack(static_cast<const std::uint64_t*>(w));
  }
}

void pack_transposed_product(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k,
                             void* packed, base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  const std::size_t width = product_panel_width(dtype, set);
  const std::size_t bytes = bits_of(dtype) / 8;
  split_rows(divide_up(n, width), k * width, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t panel = begin; panel < end; ++panel) {
      const std::size_t first = panel * width, columns = std::min(width, n - first);
      const std::byte* from = static_cast<const std::byte*>(w) + first * bytes;
      std::byte* to = static_cast<std::byte*>(packed) + first * k * bytes;
      for (std::size_t i = 0; i < k; ++i, from += w_stride * bytes, to += width * bytes) {
        std::memcpy(to, from, columns * bytes);
        std::memset(to + columns * bytes, 0, (width - columns) * bytes);
      }
    }
  });
}

void multiply(DType dtype, const ProductArguments& g, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set) {
  if (g.m == 0 || g.n == 0) return;
  if (dtype == DType::f32) {
    GemmArguments arguments;
    arguments.a = static_cast<const float*>(g.a);
    arguments.a_stride = g.a_stride;
    arguments.lines = g.lines;
    arguments.packed = g.packed;
    arguments.c = static_cast<float*>(g.c);
    arguments.c_stride = g.c_stride;
    arguments.m = g.m;
    arguments.n = g.n;
    arguments.k = g.k;
    return gemm(arguments, pool, max_workers, gemm_kernels(set).f32);
  }
  const ProductLoop loop = product_loop(dtype, set);
  const std::size_t panels = divide_up(g.n, loop.panel_width), block = loop.rows_per_tile * kStripsPerBlock;
  const std::size_t blocks = divide_up(g.m, block);
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  // Several panels per task where one is too little work.
  const std::size_t work = std::min(g.m, block) * loop.panel_width * std::max<std::size_t>(g.k, 1);
  const std::size_t together = std::clamp<std::size_t>(kTaskWork / work, 1, panels);
  const std::size_t runs = divide_up(panels, together);
  const auto task = [&](std::size_t index, std::size_t) {
    const std::size_t row = index / runs * block, panel = index % runs * together;
    loop.run(g, row, std::min(g.m, row + block), panel, std::min(panels, panel + together));
  };
  const std::size_t tasks = blocks * runs;
  if (workers <= 1 || tasks <= 1) {
    for (std::size_t index = 0; index < tasks; ++index) task(index, 0);
  } else {
    pool.parallel_for(tasks, workers, task);
  }
}

void expand_complex(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k, void* expanded) {
  if (dtype == DType::c64)
    expand(static_cast<const std::complex<float>*>(w), w_stride, n, k, static_cast<float*>(expanded));
  else
    expand(static_cast<const std::complex<double>*>(w), w_stride, n, k, static_cast<double*>(expanded));
}

}  // namespace alate::cpu
