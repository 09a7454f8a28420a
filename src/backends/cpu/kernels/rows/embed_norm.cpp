#include "backends/cpu/kernels/rows/embed_norm.h"

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

void embed_norm(const EmbedNormArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                const Kernels& set) {
  const std::size_t row_cost = arguments.width * 2 * (arguments.count + 1);
  split_rows(arguments.places, row_cost, pool, max_workers,
             [&](std::size_t begin, std::size_t end) { row_kernels(set).embed_norm(arguments, begin, end); });
}

}  // namespace alate::cpu
