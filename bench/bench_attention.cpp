// Speed of the CPU engine's attention. Of packed batches of texts: its share of the peak multiply-add rate of a thread
// with operands in registers, both measured alternately. Of steps of decoding, whose keys and values are in pages: the
// rate at which it reads them. Times are best wall-clock times.
//
//   bench_attention [THREADS [LENGTH]]    default: 1 thread and all lengths; ALATE_ISA selects the instruction set
//
// The last column of texts is the rate with rounding of operands allowed, relative to the rate without. Each step reads
// the cache of another layer, as in a model, so that keys and values come from memory unless those of all layers fit
// in a cache.
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

/// Steps of decoding: the last `queries` tokens of texts of `keys` tokens.
struct StepSizes {
  std::size_t layers, sequences, queries, keys, heads, kv_heads, head_size;
};

constexpr StepSizes kSteps[] = {
    {16, 1, 1, 2048, 32, 8, 128}, {1, 1, 1, 512, 32, 8, 128},   {4, 1, 1, 2048, 32, 32, 128},
    {30, 1, 1, 1024, 9, 3, 64},   {18, 1, 1, 1024, 4, 1, 256},  {16, 8, 1, 512, 32, 8, 128},
    {16, 1, 4, 2048, 32, 8, 128}, {16, 1, 8, 2048, 32, 8, 128}, {16, 1, 64, 2048, 32, 8, 128}};

struct CacheType {
  const char* name;
  cpu::StoredNumbers numbers;
  std::size_t bytes;
};

constexpr CacheType kCacheTypes[] = {{"f32", cpu::StoredNumbers::f32, 4},
                                     {"f16", cpu::StoredNumbers::f16, 2},
                                     {"bf16", cpu::StoredNumbers::bf16, 2},
                                     {"q8", cpu::StoredNumbers::i8, 1}};

void run_steps(const StepSizes& shape, const CacheType& type, base::ThreadPool& pool, std::size_t threads) {
  constexpr std::size_t kRows = 32;
  const std::size_t tokens = shape.sequences * shape.queries, width = shape.heads * shape.head_size;
  const std::size_t row = shape.kv_heads * shape.head_size, pages = (shape.keys + kRows - 1) / kRows;
  const std::size_t numbers = shape.sequences * pages * kRows * row;
  // As f32, f16 and bf16 these bytes are numbers near 1.
  const std::vector<std::uint32_t> cache(shape.layers * 2 * numbers * type.bytes / 4, 0x3c003c00);
  const std::vector<float> query(tokens * width, 0.25f);
  std::vector<float> out(tokens * width);
  std::vector<std::int32_t> table(shape.sequences * pages), starts, lengths, key_lengths;
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>(table.size() - 1 - i);
  for (std::size_t s = 0; s < shape.sequences; ++s) {
    starts.push_back(static_cast<std::int32_t>(s * shape.queries));
    lengths.push_back(static_cast<std::int32_t>(shape.queries));
    key_lengths.push_back(static_cast<std::int32_t>(shape.keys));
  }
  cpu::AttentionArguments arguments;
  arguments.q = query.data();
  arguments.q_stride = arguments.out_stride = width;
  arguments.out = out.data();
  arguments.k = {
      .stride = row, .numbers = type.numbers, .table = table.data(), .most_pages = pages, .page_rows = kRows};
  const std::vector<float> scales(shape.sequences * pages * kRows * shape.kv_heads, 0.01f);
  arguments.k.scales = scales.data();
  arguments.k.scale_stride = shape.kv_heads;
  arguments.v = arguments.k;
  arguments.starts = starts.data();
  arguments.lengths = lengths.data();
  arguments.key_lengths = key_lengths.data();
  arguments.sequences = shape.sequences;
  arguments.heads = shape.heads;
  arguments.kv_heads = shape.kv_heads;
  arguments.head_size = arguments.value_size = shape.head_size;
  arguments.scale = 0.1f;
  arguments.causal = true;
  const auto* const bytes = reinterpret_cast<const std::byte*>(cache.data());
  double best = 1e9;
  for (int repeat = 0; repeat < 12; ++repeat) {
    const auto begin = Clock::now();
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      arguments.k.base = bytes + 2 * layer * numbers * type.bytes;
      arguments.v.base = bytes + (2 * layer + 1) * numbers * type.bytes;
      cpu::attend_sequences(arguments, pool, threads);
    }
    best = std::min(best, seconds_since(begin) / static_cast<double>(shape.layers));
  }
  const auto read = static_cast<double>(2 * shape.sequences * shape.keys * row * type.bytes);
  std::printf("%2zu x %2zu of %-4zu keys  %2zu heads over %2zu of %-3zu  %-4s  %8.3f ms  %6.1f GB/s\n", shape.sequences,
              shape.queries, shape.keys, shape.heads, shape.kv_heads, shape.head_size, type.name, best * 1e3,
              read / best / 1e9);
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
  for (const StepSizes& shape : kSteps) {
    if (length != 0 && shape.keys != length) continue;
    for (const CacheType& type : kCacheTypes) run_steps(shape, type, pool, threads);
  }
}
