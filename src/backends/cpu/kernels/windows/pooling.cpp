#include "backends/cpu/kernels/windows/pooling.h"

#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/windows/window_kernels.h"

namespace alate::cpu {

void pool_tokens(Pooling pooling, const PoolArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                 const Kernels& set) {
  std::size_t tokens = arguments.sequences;
  if (pooling != Pooling::cls && pooling != Pooling::last) {
    for (std::size_t s = 0; s < arguments.sequences; ++s) tokens += static_cast<std::size_t>(arguments.lengths[s]);
  }
  const std::size_t mean_length = arguments.sequences == 0 ? 0 : tokens / arguments.sequences;
  split_rows(arguments.sequences, mean_length * arguments.width, pool, max_workers,
             [&](std::size_t begin, std::size_t end) {
               PoolArguments part = arguments;
               part.starts += begin;
               part.lengths += begin;
               part.out += begin * part.out_stride;
               part.sequences = end - begin;
               window_kernels(set).pool_tokens(pooling, part);
             });
}

}  // namespace alate::cpu
