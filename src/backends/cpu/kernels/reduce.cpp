#include "backends/cpu/kernels/reduce.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"

namespace alate::cpu {

void reduce(ReduceOp op, const ReduceArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
            const Kernels& set) {
  const auto part_of = [&](std::size_t begin, std::size_t end) {
    ReduceArguments part = arguments;
    part.x += begin * arguments.length * arguments.inner;
    part.out += begin * arguments.inner;
    part.outer = end - begin;
    return part;
  };
  if (arguments.outer >= 4 || arguments.inner == 1) {
    split_rows(
        arguments.outer, arguments.length * arguments.inner, pool, max_workers,
        [&](std::size_t begin, std::size_t end) { set.simd.reduce_part(op, part_of(begin, end), 0, arguments.inner); });
    return;
  }
  // Few rows: the columns are split instead, by cache lines.
  constexpr std::size_t kColumns = 16;
  const std::size_t groups = (arguments.inner + kColumns - 1) / kColumns;
  split_rows(groups, arguments.outer * arguments.length * kColumns, pool, max_workers,
             [&](std::size_t begin, std::size_t end) {
               set.simd.reduce_part(op, arguments, begin * kColumns, std::min(end * kColumns, arguments.inner));
             });
}

}  // namespace alate::cpu
