// Speed of products with ggml blocks. For one row, which reads each weight once: bytes of the file's blocks a second,
// over weights that together fit no cache. For more rows: 10⁹ operations a second.
//
//   bench_blocks [TYPE...] [THREADS...] [MxKxN...]    default: all types, 1 and 2 threads, some shapes;
//                                                     ALATE_ISA selects the instruction set
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "aligned_floats.h"
#include "backends/cpu/kernels/blocks/block_product.h"
#include "backends/cpu/kernels/blocks/pack_blocks.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace {

using namespace alate;
using tensor::EncodingKind;

struct Sizes {
  std::size_t m, k, n;
};

constexpr Sizes kShapes[] = {{1, 2048, 2048}, {1, 2048, 5632}, {1, 5632, 2048}, {8, 2048, 5632}, {512, 2048, 5632}};
constexpr std::size_t kColdBytes = std::size_t{256} << 20;
constexpr double kSecondsEach = 0.5;

void measure(EncodingKind kind, const Sizes& shape, std::size_t threads, base::ThreadPool& pool) {
  const auto [m, k, n] = shape;
  const std::size_t bytes = cpu::packed_block_bytes(kind, n, k);
  const std::size_t copies = m == 1 ? std::max<std::size_t>(2, kColdBytes / bytes) : 1;
  const bench::AlignedFloats x = bench::filled(m * k, 0.5f), c = bench::filled(m * n, 0.0f);
  const bench::AlignedFloats packed = bench::filled(copies * bytes / sizeof(float), 0.25f);
  cpu::BlockProduct product{.kind = kind, .product = {}};
  cpu::GemmArguments& g = product.product;
  g.a = x.get();
  g.a_stride = g.k = k;
  g.c = c.get();
  g.c_stride = g.n = n;
  g.m = m;
  const bench::AlignedFloats scratch = bench::filled(cpu::block_product_scratch(product) / sizeof(float) + 1, 0.0f);
  std::vector<double> seconds;
  std::size_t next = 0;
  using Clock = std::chrono::steady_clock;
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < kSecondsEach;) {
    const auto start = Clock::now();
    g.packed = packed.get() + next * bytes / sizeof(float);
    cpu::multiply_blocks(product, reinterpret_cast<std::byte*>(scratch.get()), pool, threads);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    next = (next + 1) % copies;
  }
  std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2));
  const double median = seconds[seconds.size() / 2];
  const tensor::BlockSize block = tensor::block_size(kind);
  const double weights = static_cast<double>(n * k);
  const double rate = m == 1 ? weights / static_cast<double>(block.elements) * static_cast<double>(block.bytes)
                             : 2 * static_cast<double>(m) * weights;
  std::printf("%-7s %4zu x %5zu x %5zu  %zu threads  %9.1f us  %7.1f %s\n", tensor::to_string(kind).data(), m, k, n,
              threads, 1e6 * median, 1e-9 * rate / median, m == 1 ? "GB/s" : "GOP/s");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<EncodingKind> all, chosen;
  for (int kind = static_cast<int>(EncodingKind::q4_0); kind <= static_cast<int>(tensor::kLastEncoding); ++kind) {
    if (cpu::block_form(static_cast<EncodingKind>(kind))) all.push_back(static_cast<EncodingKind>(kind));
  }
  std::vector<std::size_t> thread_counts;
  std::vector<Sizes> shapes;
  for (int i = 1; i < argc; ++i) {
    for (const EncodingKind kind : all) {
      if (tensor::to_string(kind) == argv[i]) chosen.push_back(kind);
    }
    Sizes shape{};
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.m, &shape.k, &shape.n) == 3) {
      shapes.push_back(shape);
    } else if (const std::size_t count = std::strtoul(argv[i], nullptr, 10); count != 0) {
      thread_counts.push_back(count);
    }
  }
  if (thread_counts.empty()) thread_counts = {1, 2};
  if (chosen.empty()) chosen = all;
  if (shapes.empty()) shapes.assign(std::begin(kShapes), std::end(kShapes));
  base::ThreadPool pool(std::ranges::max(thread_counts));
  std::printf("%s kernels\n", base::to_string(cpu::kernels().set).data());
  for (const EncodingKind kind : chosen) {
    for (const Sizes& shape : shapes) {
      for (const std::size_t threads : thread_counts) measure(kind, shape, threads, pool);
    }
  }
  return 0;
}
