// Many rows through a program, batch by batch: what a call of the library does, where a server has its scheduler.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "backends/batch_hint.h"
#include "runtime/batching/batch_program.h"

namespace alate::runtime {

/// The size of a batch, by BatchRow::size; a larger row is a batch of its own.
struct RowBudget {
  std::size_t tokens = backends::BatchHint().rows;
  std::size_t rows = 0;  // 0: limited only by tokens
};

struct RowValues {
  Tensor values;                    // f32, as BatchProgram::run_rows gives them, in the order of the rows
  std::vector<std::size_t> starts;  // where each row's values begin, and the end of the last
};

/// Runs the rows in batches of rows of like length, so that no thread waits long for another. `computed` is told after
/// each batch how many rows it had. Throws as BatchProgram::run_rows, and invalid_argument for a budget without tokens.
RowValues run_rows(const BatchProgram& program, std::span<const BatchRow> rows, const RowBudget& budget,
                   const backends::RunOptions& options, const std::function<void(std::size_t)>& computed = {});

}  // namespace alate::runtime
