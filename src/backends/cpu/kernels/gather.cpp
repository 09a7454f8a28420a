#include "backends/cpu/kernels/gather.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {

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
