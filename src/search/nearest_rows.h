// The best of many scored rows, whatever the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/threads/cancellation.h"
#include "base/threads/thread_pool.h"

namespace alate::search {

struct RowScore {
  std::size_t row = 0;
  float score = 0;

  bool operator==(const RowScore&) const = default;
};

/// Whether `a` comes first: the higher score, of equal ones the lower row. NaN is lower than any number.
bool is_nearer(const RowScore& a, const RowScore& b);

/// Keeps the first `count` of what it is offered, in the order of is_nearer, in memory for so many.
class BestRows {
 public:
  explicit BestRows(std::size_t count) : count_(count) {}

  void offer(const RowScore& row);
  /// Rows first, first + 1, ... with these scores.
  void offer(std::size_t first, std::span<const float> scores);
  /// What is kept, in order.
  std::vector<RowScore> take();

 private:
  std::size_t count_;
  std::vector<RowScore> heap_;  // the last one in front
};

/// Writes the scores of rows [begin, begin + scores.size()); is called from several threads.
using ScoreRows = std::function<void(std::size_t begin, std::span<float> scores)>;

/// The first `count` of `rows` rows in the order of is_nearer; each worker keeps its own and they are merged. Throws
/// cancelled, and what `score` throws.
std::vector<RowScore> nearest_rows(std::size_t rows, std::size_t count, const ScoreRows& score, base::ThreadPool& pool,
                                   const base::Cancellation& cancellation);

}  // namespace alate::search
