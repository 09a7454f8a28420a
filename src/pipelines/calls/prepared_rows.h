// Rows of an entry point, made from texts or ids: what a pipeline's `prepare` gives.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/batching/batch_program.h"

namespace alate::pipelines {

struct PreparedRows {
  std::vector<runtime::BatchRow> rows;  // special tokens included
  std::vector<std::size_t> truncated;   // indices of the rows that were cut, ascending
  // Of each row: the text that it is a window of, ascending, and its weight among these. Empty: row i is text i.
  std::vector<std::size_t> inputs = {}, weights = {};

  std::size_t tokens() const;
  /// What the rows take of memory.
  std::size_t bytes() const;
};

struct PreparedRow {
  runtime::BatchRow row;
  bool truncated = false;
};

/// Makes row i by `make(i)`, in parallel on at most `threads` threads of the shared pool (0: all). Throws as `make`.
PreparedRows prepare_rows(std::size_t count, std::size_t threads, const base::Cancellation& cancellation,
                          const std::function<PreparedRow(std::size_t)>& make);

/// The most tokens of a row: `asked`, otherwise `usual`. Throws invalid_argument for more than the model has positions.
std::size_t row_limit(std::optional<std::size_t> asked, std::size_t usual, std::size_t positions);

}  // namespace alate::pipelines
