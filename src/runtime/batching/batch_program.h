// Rows of tokens, and what computes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"
#include "backends/backend.h"
#include "models/inputs/row_inputs.h"

namespace alate::runtime {

/// One text, or a pair of texts, as token ids, special tokens included.
struct BatchRow {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids = {};  // of each token; empty: all 0
  std::int32_t pool_skip = 0;               // leading tokens that pooling leaves out
  std::int32_t masked_tail = 0;             // last tokens that attend to the others, but are masked as keys
  models::RowParts parts = {};              // of programs that read them (models::RowInputs)
  std::size_t parts_size = 0;               // their share of a batch, in tokens

  /// Its share of a batch, in tokens: at least 1.
  std::size_t size() const { return std::max<std::size_t>(ids.size() + parts_size, 1); }
};

/// A computation of which no row depends on the others of its batch: an entry point of a model. Thread-safe.
class BatchProgram {
 public:
  virtual ~BatchProgram() = default;
  BatchProgram(const BatchProgram&) = delete;
  BatchProgram& operator=(const BatchProgram&) = delete;

  /// How many numbers all outputs have for a row.
  virtual std::size_t width(const BatchRow& row) const = 0;
  /// All outputs of each row as one list of numbers: those of the first output, then those of the next. f32, row after
  /// row, each as long as `width` says. Throws invalid_argument for ids and types that the model does not have,
  /// cancelled.
  virtual Tensor run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions& options) const = 0;

 protected:
  BatchProgram() = default;
};

}  // namespace alate::runtime
