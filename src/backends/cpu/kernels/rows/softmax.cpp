#include "backends/cpu/kernels/rows/softmax.h"

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

void softmax_rows(const SoftmaxArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                  const Kernels& set) {
  split_rows(arguments.rows, arguments.width * 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    SoftmaxArguments part = arguments;
    part.x += begin * part.x_stride;
    part.out += begin * part.out_stride;
    part.rows = end - begin;
    row_kernels(set).softmax_rows(part);
  });
}

}  // namespace alate::cpu
