#include "backends/cpu/kernels/rows/normalize.h"

#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

NormArguments rows_of_norm(const NormArguments& arguments, std::size_t begin, std::size_t end) {
  NormArguments part = arguments;
  part.x += begin * part.x_stride;
  if (part.residual != nullptr) part.residual += begin * part.residual_stride;
  if (part.sum != nullptr) part.sum += begin * part.sum_stride;
  if (part.out != nullptr) part.out += begin * part.out_stride;
  if (part.row_sums != nullptr) part.row_sums += begin * kSumLanes;
  if (part.halves != nullptr) part.halves += begin * part.halves_stride;
  part.rows = end - begin;
  return part;
}

void normalize_rows(NormKind kind, const NormArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                    const Kernels& set) {
  split_rows(arguments.rows, arguments.width * 2, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    row_kernels(set).normalize_rows(kind, rows_of_norm(arguments, begin, end));
  });
}

}  // namespace alate::cpu
