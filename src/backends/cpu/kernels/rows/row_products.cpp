#include "backends/cpu/kernels/rows/row_products.h"

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

void dot_rows(const RowProductArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set) {
  split_rows(arguments.rows, arguments.width, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    RowProductArguments part = arguments;
    part.m += begin * part.m_stride;
    part.out += begin;
    part.rows = end - begin;
    row_kernels(set).dot_rows(part);
  });
}

void sum_rows(const RowProductArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set) {
  constexpr std::size_t kColumns = 64;  // minimum per task: whole cache lines
  const std::size_t blocks = (arguments.width + kColumns - 1) / kColumns;
  split_rows(blocks, arguments.rows * kColumns, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    RowProductArguments part = arguments;
    part.m += begin * kColumns;
    part.out += begin * kColumns;
    part.width = (end == blocks ? arguments.width : end * kColumns) - begin * kColumns;
    row_kernels(set).sum_rows(part);
  });
}

}  // namespace alate::cpu
