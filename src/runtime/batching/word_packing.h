// Conversion of the words and labels of packed rows to the input tensors of a graph about these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "runtime/batching/batch_program.h"

namespace alate::runtime {

enum class WordTasks { none, told_apart };

/// The graph's inputs in the order of models::declare_word_inputs, for rows of `lengths` tokens; with
/// models::TaskInputs where tasks are told apart. Throws invalid_argument for a row without words or labels, or then
/// without marks, or with one outside of it.
std::vector<backends::Buffer> pack_words(std::span<const std::int32_t> lengths, std::span<const RowWords* const> rows,
                                         WordTasks tasks = WordTasks::none);

}  // namespace alate::runtime
