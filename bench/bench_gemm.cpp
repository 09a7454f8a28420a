// GEMM speed of the CPU engine on encoder shapes, and its share of the peak multiply-add rate of the same threads with
// operands in registers. Peak and GEMM are measured alternately, so that a changing clock affects both. The first
// column is the best wall-clock time; the others use processor time, which is insensitive to other programs' load (but
// also misses threads that sleep for lack of work). "warm" reuses one weight; "cold" cycles through many, like the
// layers of a model.
//
// The kinds are f32, bf16 and integers (u8 by s8, or i16 where the processor lacks such a product), and f32 with
// weights in bf16 or f16, w_bf16 and w_f16.
//
//   bench_gemm [KIND...] [THREADS...] [MxKxN...]    default: all kinds, 1 and 2 threads, a list of shapes;
//                                                   ALATE_ISA selects the instruction set
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "aligned_floats.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/dispatch/peak_loops.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace {

using namespace alate;
using bench::AlignedFloats;
using bench::filled;
using Clock = std::chrono::steady_clock;

struct Sizes {
  std::size_t m, k, n;
  cpu::Activation activation = cpu::Activation::none;
};

constexpr Sizes kShapes[] = {
    {1, 384, 384},
    {1, 384, 1536},
    {8, 384, 384},
    {32, 384, 384},
    {32, 384, 1152},
    {32, 384, 1536},
    {32, 1536, 384},
    {128, 384, 1152},
    {128, 384, 384},
    {128, 384, 1536},
    {128, 1536, 384},
    {1024, 1536, 384},
    {2048, 2048, 2048},
    {4096, 384, 1152},
    {4096, 384, 384},
    {4096, 384, 1536},
    {4096, 1536, 384},
    {32, 768, 768},
    {32, 1024, 1024},
    {128, 1024, 4096},
    {128, 4096, 1024},
    {512, 1024, 1024},
    {512, 3072, 768},
    {32, 384, 1536, cpu::Activation::gelu_erf},
    {4096, 384, 1536, cpu::Activation::gelu_erf},
};

constexpr std::size_t kColdBytes = std::size_t{64} << 20;
constexpr double kSecondsEach = 0.4;

struct Times {
  double wall, processor;  // seconds; `processor` is summed over all threads
};

template <typename Run>
Times time(const Run& run) {
  const auto begin = Clock::now();
  const std::clock_t processor_begin = std::clock();
  run();
  const std::clock_t processor_end = std::clock();
  return {std::chrono::duration<double>(Clock::now() - begin).count(),
          static_cast<double>(processor_end - processor_begin) / CLOCKS_PER_SEC};
}

struct Speed {
  double wall, processor;  // GFLOP/s by wall-clock and by processor time
};

Speed speed_of(double flops, std::size_t threads, const Times& times) {
  return {1e-9 * flops / times.wall, 1e-9 * flops * static_cast<double>(threads) / times.processor};
}

struct Kind {
  std::string_view name;
  cpu::GemmKernel kernel;
  std::size_t operations_per_round;
  std::uint32_t (*run)(std::size_t rounds);
};

std::uint32_t run_multiply_adds(std::size_t rounds) {
  return static_cast<std::uint32_t>(cpu::kernels().run_multiply_adds(rounds));
}

// Peak rates of the kernels' instructions with operands in registers.
std::vector<Kind> kinds() {
  const cpu::Kernels& set = cpu::kernels();
  const cpu::PeakLoops loops = cpu::peak_loops();
  Kind bf16{"bf16", set.bf16, set.flops_per_round, run_multiply_adds}, integers = bf16;
  if (loops.bf16.run != nullptr) bf16 = {"bf16", set.bf16, loops.bf16.operations_per_round, loops.bf16.run};
  integers.name = "int8", integers.kernel = set.integers;
  if (set.integers.kind == cpu::WordKind::bytes && loops.int8.run != nullptr)
    integers = {"int8", set.integers, loops.int8.operations_per_round, loops.int8.run};
  const auto numbers = [&](std::string_view name, const cpu::GemmKernel& kernel) {
    return Kind{name, kernel, set.flops_per_round, run_multiply_adds};
  };
  return {numbers("f32", set.f32), bf16, integers, numbers("w_bf16", set.f32_by_bf16),
          numbers("w_f16", set.f32_by_f16)};
}

Speed peak(const Kind& kind, base::ThreadPool& pool, std::size_t threads) {
  constexpr std::size_t kRounds = 100000;
  const auto chains = [&](std::size_t, std::size_t) { kind.run(kRounds); };
  const Times times = time([&] { pool.parallel_for(threads, threads, chains); });
  return speed_of(static_cast<double>(threads * kRounds * kind.operations_per_round), threads, times);
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(const Kind& kind, const Sizes& shape, std::size_t threads, bool cold, base::ThreadPool& pool) {
  const auto& [m, values, n, activation] = shape;
  const std::size_t k = values / cpu::values_per_word(kind.kernel.kind);  // words
  const std::size_t weight_floats = cpu::packed_word_count(n, k, kind.kernel);
  const std::size_t copies = cold ? std::max<std::size_t>(2, kColdBytes / sizeof(float) / weight_floats) : 1;
  const AlignedFloats a = filled(m * k, 0.5f), packed = filled(copies * weight_floats, 0.25f), bias = filled(n, 0.125f);
  const AlignedFloats c = filled(m * n, 0.0f);
  cpu::GemmArguments arguments{.a = a.get(),
                               .a_stride = k,
                               .bias = bias.get(),
                               .activation = activation,
                               .c = c.get(),
                               .c_stride = n,
                               .m = m,
                               .n = n,
                               .k = k};
  const AlignedFloats scales = filled(2 * (m + n), 0.5f);
  arguments.scales = {scales.get(), scales.get() + m, scales.get() + 2 * m, scales.get() + 2 * m + n, 1};
  const double flops = 2.0 * static_cast<double>(m * n * values);
  const auto repeats = static_cast<std::size_t>(1 + 2e8 / flops);
  std::size_t next = 0;
  const auto round = [&] {
    for (std::size_t i = 0; i < repeats; ++i) {
      arguments.packed = packed.get() + next * weight_floats;
      cpu::gemm(arguments, pool, threads, kind.kernel);
      next = (next + 1) % copies;
    }
  };
  round();
  double best = 0;
  std::vector<double> speeds, shares;
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < kSecondsEach;) {
    const Speed before = peak(kind, pool, threads);
    const Speed speed = speed_of(flops * static_cast<double>(repeats), threads, time(round));
    const Speed after = peak(kind, pool, threads);
    best = std::max(best, speed.wall);
    speeds.push_back(speed.processor);
    shares.push_back(2 * speed.processor / (before.processor + after.processor));
  }
  std::printf("%-6s %5zu x %4zu x %4zu %s  %7zu  %s %8.1f %8.1f %8.1f %%\n", kind.name.data(), m, values, n,
              activation == cpu::Activation::none ? "    " : "gelu", threads, cold ? "cold" : "warm", best,
              median(speeds), 100 * median(shares));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> thread_counts;
  std::vector<Kind> chosen;
  std::vector<Sizes> shapes;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    for (const Kind& kind : kinds()) {
      if (kind.name == argument) chosen.push_back(kind);
    }
    Sizes shape{};
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.m, &shape.k, &shape.n) == 3) {
      shapes.push_back(shape);
    } else if (const std::size_t count = std::strtoul(argv[i], nullptr, 10); count != 0) {
      thread_counts.push_back(count);
    }
  }
  if (thread_counts.empty()) thread_counts = {1, 2};
  if (chosen.empty()) chosen = kinds();
  if (shapes.empty()) shapes.assign(std::begin(kShapes), std::end(kShapes));
  base::ThreadPool pool(*std::max_element(thread_counts.begin(), thread_counts.end()));
  std::printf("%s kernels, GFLOP/s\n            M x    K x    N       threads           wall      cpu    of peak\n",
              base::to_string(cpu::kernels().set).data());
  for (const Kind& kind : chosen) {
    for (const Sizes& shape : shapes) {
      for (const std::size_t threads : thread_counts) {
        measure(kind, shape, threads, false, pool);
        if (shape.m <= 128) measure(kind, shape, threads, true, pool);
      }
    }
  }
}
