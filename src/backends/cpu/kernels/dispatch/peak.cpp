#include "backends/cpu/kernels/dispatch/peak.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

double peak_operations_per_second(base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  constexpr std::size_t kRounds = std::size_t{1} << 16, kRepeats = 5;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  std::vector<float> sums(workers);
  double least_seconds = 1e9;
  for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(workers, workers, [&](std::size_t i, std::size_t) { sums[i] = set.run_multiply_adds(kRounds); });
    least_seconds =
        std::min(least_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(workers * kRounds * set.flops_per_round) / least_seconds;
}

}  // namespace alate::cpu
