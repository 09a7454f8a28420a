// Speed of the CPU engine's attention over packed batches of texts, and its share of the peak multiply-add rate of a
// thread with operands in registers. Both are measured alternately; times are best wall-clock times.
//
//   bench_attention [THREADS [LENGTH]]    default: 1 thread and all lengths; ALATE_ISA selects the instruction set
//
// The last column is the rate with rounding of operands allowed, relative to the rate without.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace {

using namespace alate;
using Clock = std::chrono::steady_clock;

struct Sizes {
  std::size_t sequences, length, heads, head_size;
};

constexpr Sizes kShapes[] = {{32, 8, 12, 32},  {16, 16, 12, 32}, {12, 24, 12, 32}, {8, 64, 12, 32}, {2, 128, 12, 32},
                             {1, 512, 12, 32}, {2, 128, 12, 64}, {1, 512, 12, 64}, {2, 128, 8, 80}, {2, 128, 8, 128}};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double measure_peak(const cpu::Kernels& kernels) {
  constexpr std::size_t kRounds = 20000;
  const auto begin = Clock::now();
  const volatile float sink = kernels.run_multiply_adds(kRounds);
  static_cast<void>(sink);
  return static_cast<double>(kernels.flops_per_round * kRounds) / seconds_since(begin);
}

void run(const Sizes& shape, base::ThreadPool& pool, std::size_t threads) {
  const std::size_t tokens = shape.sequences * shape.length;
  const std::size_t width = shape.heads * shape.head_size;
  std::vector<float> qkv(tokens * 3 * width);
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = static_cast<float>(i * 7919 % 1000) / 1000 - 0.5f;
  std::vector<float> out(tokens * width);
  const std::vector<std::int32_t> lengths(shape.sequences, static_cast<std::int32_t>(shape.length));
  std::vector<std::int32_t> starts;
  for (std::size_t s = 0; s < shape.sequences; ++s) starts.push_back(static_cast<std::int32_t>(s * shape.length));
  cpu::AttentionArguments arguments;
  arguments.q = qkv.data();
  arguments.k.base = qkv.data() + width;
  arguments.v.base = qkv.data() + 2 * width;
  arguments.q_stride = arguments.k.stride = arguments.v.stride = 3 * width;
  arguments.out = out.data();
  arguments.out_stride = width;
  arguments.starts = starts.data();
  arguments.lengths = lengths.data();
  arguments.sequences = shape.sequences;
  arguments.heads = arguments.kv_heads = shape.heads;
  arguments.head_size = arguments.value_size = shape.head_size;
  arguments.scale = 0.2f;
  double best = 1e9, best_rounded = 1e9;
  double peak = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto begin = Clock::now();
    cpu::attend_sequences(arguments, pool, threads);
    best = std::min(best, seconds_since(begin));
    cpu::AttentionArguments rounding = arguments;
    rounding.rounds_operands = true;
    begin = Clock::now();
    cpu::attend_sequences(rounding, pool, threads);
    best_rounded = std::min(best_rounded, seconds_since(begin));
    if (repeat % 4 == 0) peak = std::max(peak, measure_peak(cpu::kernels()));
  }
  const double rate = 4.0 * static_cast<double>(shape.sequences * shape.length * shape.length * width) / best;
  std::printf("%3zu x %-4zu %2zu heads of %-3zu  %8.3f ms  %7.1f GFLOP/s  %3.0f%% of %zu x %.0f  %5.2f\n",
              shape.sequences, shape.length, shape.heads, shape.head_size, best * 1e3, rate / 1e9,
              100 * rate / peak / static_cast<double>(threads), threads, peak / 1e9, best / best_rounded);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? static_cast<std::size_t>(std::max(std::atoi(argv[1]), 1)) : 1;
  base::ThreadPool pool(threads);
  std::printf("%s\n", cpu::kernels().simd.target);
  const std::size_t length = argc > 2 ? static_cast<std::size_t>(std::max(std::atoi(argv[2]), 0)) : 0;
  for (const Sizes& shape : kShapes) {
    if (length == 0 || shape.length == length) run(shape, pool, threads);
  }
}
