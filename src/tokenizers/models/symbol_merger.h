// The merging of a word's symbols by rank, in the order of the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizers/models/merge_table.h"
#include "tokenizers/models/model.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

/// Working memory for one word at a time.
class SymbolMerger {
 public:
  void start() {
    ids_.clear();
    lengths_.clear();
  }
  void add(std::int32_t id, std::uint32_t length) {
    ids_.push_back(id);
    lengths_.push_back(length);
  }

  /// Frees the memory that a very long word needed.
  void trim() {
    if (ids_.capacity() > kKept) *this = SymbolMerger();
  }

  /// Merges the symbols since `start` and appends the tokens. A short word takes quadratic time, a long one n log n.
  /// With `exact_order`, as is needed when merges of one position can make the same token, the reference's queue is
  /// followed to the letter.
  void merge(const MergeTable& merges, bool exact_order, WorkBudget& budget, std::vector<Token>& out);

 private:
  static constexpr std::size_t kShort = 48;                   // symbols
  static constexpr std::size_t kKept = std::size_t{1} << 16;  // symbols that trim leaves room for

  void merge_short(const MergeTable& merges);
  void merge_long(const MergeTable& merges, WorkBudget& budget);

  std::vector<std::int32_t> ids_;
  std::vector<std::uint32_t> lengths_;  // in bytes; 0: merged into an earlier symbol
  std::vector<std::uint32_t> ranks_;    // of each symbol's pair with its successor
  std::vector<std::uint32_t> previous_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint64_t> queue_;  // rank and position
};

}  // namespace alate::tokenizers
