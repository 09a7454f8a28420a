// Rows with words and labels among their tokens: GLiNER's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/memory_needs.h"
#include "models/inputs/row_inputs.h"

namespace alate::models {

/// The tokens that stand for the words and the labels of a row, by their places in it.
struct RowWords {
  std::vector<std::int32_t> words, labels;
  // Of heads that tell tasks apart: the task of each label, from 1 on, and further tokens.
  std::vector<std::int32_t> groups = {}, marks = {};

  /// As the parts that word_inputs and task_inputs read.
  RowParts parts() const;
  /// Their share of a batch, in tokens: a pair of a word and a label takes about an eighth of a token's memory.
  std::size_t size() const { return words.size() * labels.size() / 8; }
};

/// EncoderInputs::words, without tasks.
const RowInputs& word_inputs();
/// With tasks.
const RowInputs& task_inputs();

/// Appends what texts of `length` tokens are estimated to have: usual_sizes.
void append_word_sizes(std::int64_t rows, std::int64_t length, backends::DimSettings& sizes);

}  // namespace alate::models
