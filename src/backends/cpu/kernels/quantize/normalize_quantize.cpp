#include "backends/cpu/kernels/quantize/normalize_quantize.h"

#include "backends/cpu/kernels/quantize/quantize_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::cpu {

void normalize_and_quantize_rows(NormKind kind, const NormArguments& norm, const QuantizeArguments& integers,
                                 base::ThreadPool& pool, std::size_t max_workers, const Kernels& set) {
  QuantizeArguments all = integers;
  all.x = norm.out;
  all.x_stride = norm.out_stride;
  all.rows = norm.rows;
  all.width = norm.width;
  split_rows(norm.rows, norm.width * 4, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    QuantizeArguments part = rows_to_quantize(all, begin, end);
    take_rotation_scratch(part);
    quantize_kernels(set).normalize_and_quantize_rows(kind, rows_of_norm(norm, begin, end), part);
  });
}

}  // namespace alate::cpu
