// Splits independent rows over the pool's workers.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Below this many element operations a loop runs only on the caller: waking a worker costs more.
constexpr std::size_t kParallelThreshold = std::size_t{1} << 15;

/// Calls run(begin, end, worker) over ranges that cover [0, rows); `row_cost` is in element operations. A row's result
/// must not depend on its range. `worker` is below the pool's size, and concurrent calls have different workers.
template <typename Run>
void split_rows_by_worker(std::size_t rows, std::size_t row_cost, base::ThreadPool& pool, std::size_t max_workers,
                          const Run& run) {
  if (rows == 0) return;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  const std::size_t cost = rows * std::max<std::size_t>(row_cost, 1);
  const std::size_t useful = std::min(rows, cost / (kParallelThreshold / 2));
  if (workers <= 1 || useful <= 1) return run(std::size_t{0}, rows, std::size_t{0});
  // A few ranges per worker, so that an interrupted worker does not hold up the others.
  const std::size_t ranges = std::min(useful, workers * 4);
  pool.parallel_for(ranges, workers, [&](std::size_t index, std::size_t worker) {
    run(rows * index / ranges, rows * (index + 1) / ranges, worker);
  });
}

/// The same for work without per-worker memory: run(begin, end).
template <typename Run>
void split_rows(std::size_t rows, std::size_t row_cost, base::ThreadPool& pool, std::size_t max_workers,
                const Run& run) {
  split_rows_by_worker(rows, row_cost, pool, max_workers,
                       [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) { run(begin, end); });
}

}  // namespace alate::cpu
