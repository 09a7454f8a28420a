#include "backends/cpu/kernels/rows/bf16_rows.h"

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

void round_rows_to_bf16(const Bf16RowArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                        const Kernels& set) {
  split_rows(arguments.rows, arguments.width, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    Bf16RowArguments part = arguments;
    part.x += begin * part.x_stride;
    part.words = static_cast<float*>(part.words) + begin * part.words_stride;
    part.rows = end - begin;
    row_kernels(set).round_rows_to_bf16(part);
  });
}

}  // namespace alate::cpu
