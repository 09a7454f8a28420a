// Overhead of a thread pool loop: fork and join in which every thread takes part. Counters are in microseconds; the
// median is more meaningful than the mean when other programs run too.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/hardware/cpu_facts.h"
#include "base/threads/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The caller's activity between two loops.
enum class Rhythm {
  at_once,  // none
  work,     // 20 us of its own work, as between the kernels of a model
  rest,     // 2 ms of sleep: the workers sleep too
};

void pass_time(Rhythm rhythm) {
  if (rhythm == Rhythm::rest) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (rhythm != Rhythm::work) return;
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(20);
  while (Clock::now() < end) {
  }
}

void fork_join(benchmark::State& state, Rhythm rhythm) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  alate::base::ThreadPool pool(threads);
  std::vector<double> microseconds;
  for (auto iteration : state) {
    pass_time(rhythm);
    std::atomic<std::size_t> present{0};
    const Clock::time_point start = Clock::now();
    // Each index waits for all the others, so that every thread must take part.
    pool.parallel_for(threads, threads, [&](std::size_t, std::size_t) {
      present.fetch_add(1);
      while (present.load(std::memory_order_relaxed) < threads) {
      }
    });
    const Seconds time = Clock::now() - start;
    state.SetIterationTime(time.count());
    microseconds.push_back(time.count() * 1e6);
  }
  std::ranges::sort(microseconds);
  state.counters["p10_us"] = microseconds[microseconds.size() / 10];
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["p99_us"] = microseconds[microseconds.size() * 99 / 100];
}

void each_thread_count(benchmark::internal::Benchmark* benchmark) {
  const auto most = static_cast<int>(alate::base::cpu_facts().affinity_cores);
  for (int threads = 1; threads < most; threads *= 2) benchmark->Arg(threads);
  benchmark->Arg(most)->ArgName("threads")->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(fork_join, at_once, Rhythm::at_once)->Apply(each_thread_count)->Iterations(20000);
BENCHMARK_CAPTURE(fork_join, work, Rhythm::work)->Apply(each_thread_count)->Iterations(5000);
BENCHMARK_CAPTURE(fork_join, rest, Rhythm::rest)->Apply(each_thread_count)->Iterations(200);

}  // namespace
