#include "backends/cpu/kernels/gather.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {

void gather_rows(const void* table, std::size_t row_bytes, const std::int32_t* indices, std::size_t count, void* out,
                 base::ThreadPool& pool, std::size_t max_workers) {
  if (row_bytes == 0) return;
  split_rows(count, row_bytes / 16 + 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(static_cast<std::byte*>(out) + i * row_bytes,
                  static_cast<const std::byte*>(table) + static_cast<std::size_t>(indices[i]) * row_bytes, row_bytes);
    }
  });
}

void gather_sum(const GatherSumArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                const Kernels& set) {
  split_rows(arguments.rows, arguments.width, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    GatherSumArguments part = arguments;
    for (auto& indices : part.indices) {
      if (indices != nullptr) indices += begin;
    }
    part.out += begin * part.out_stride;
    part.rows = end - begin;
    set.simd.gather_sum(part);
  });
}

}  // namespace alate::cpu
