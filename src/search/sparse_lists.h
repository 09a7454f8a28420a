// The sparse vectors of an index as inverted lists, and search over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "alate/embedding_kinds.h"
#include "base/threads/cancellation.h"
#include "search/nearest_rows.h"

namespace alate::search {

/// For each vocabulary entry that a passage has, the passages and its weights in them. Nothing is owned. Checked when
/// it is read: terms ascend, ends too and the last is the number of postings. The postings themselves are checked where
/// they are used.
struct SparseTable {
  std::span<const std::int32_t> terms = {};     // ascending, from 0
  std::span<const std::int64_t> ends = {};      // where each term's postings end
  std::span<const std::int32_t> passages = {};  // of each posting; ascending within a term
  std::span<const float> weights = {};          // of each posting

  bool empty() const { return terms.empty(); }
  /// The postings of terms[place].
  std::span<const std::int32_t> passages_of(std::size_t place) const;
  std::span<const float> weights_of(std::size_t place) const;
};

/// The lists in memory.
struct SparseLists {
  std::vector<std::int32_t> terms;
  std::vector<std::int64_t> ends;
  std::vector<std::int32_t> passages;
  std::vector<float> weights;

  SparseTable table() const { return {terms, ends, passages, weights}; }
};

/// The lists of these vectors, of passages 0, 1, ...
SparseLists invert(std::span<const SparseEmbedding> vectors);

/// Passages next to each other in a table, and what the first of them is in a new one.
struct SparseRun {
  SparseTable table;
  std::size_t first = 0, count = 0;
  std::size_t new_first = 0;
};

/// Calls `visit` for each term, ascending, with the postings that each run has of it, in the order of the runs; `run`
/// is the run, and its passages are still those of its own table.
void for_each_term(
    std::span<const SparseRun> runs,
    const std::function<void(std::int32_t term, const SparseRun& run, std::span<const std::int32_t> passages,
                             std::span<const float> weights)>& visit);

/// The `count` of `rows` passages with the largest dot products with the question, in the order of is_nearer, of those
/// that share an entry with it. Throws corrupt for postings outside of the passages, cancelled.
std::vector<RowScore> nearest_sparse(const SparseTable& table, std::size_t rows, const SparseEmbedding& question,
                                     std::size_t count, const base::Cancellation& cancellation);

/// Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009, https://doi.org/10.1145/1571941.1572114): a row's score
/// is the sum of 1 / (60 + its rank) over the lists that have it, ranks from 1.
std::vector<RowScore> fused_by_rank(std::span<const std::vector<RowScore>> lists, std::size_t count);

}  // namespace alate::search
