// Rows of tables taken by index. The caller has checked that every index is in [0, rows of its table).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/kernel_set.h"
#include "base/thread_pool.h"

namespace alate::cpu {

/// The sum of the embeddings of a token: out[i] = sum over t of tables[t][indices[t][i]], in the order of t.
struct GatherSumArguments {
  const float* tables[3] = {};          // each [its rows, width], contiguous
  const std::int32_t* indices[3] = {};  // each [rows]; null means that table's row 0
  std::size_t count = 0;                // tables in use, 1 to 3
  float* out = nullptr;                 // [rows, width]
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  std::size_t width = 0;
};

void gather_sum(const GatherSumArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                const Kernels& set = kernels());

}  // namespace alate::cpu
