#include "search/nearest_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace alate::search {
namespace {

// Rows that a worker scores at a time: some hundred microseconds of bytes, and their scores stay in the cache.
constexpr std::size_t kBlockRows = 4096;

}  // namespace

bool is_nearer(const RowScore& a, const RowScore& b) {
  const auto value = [](float score) { return std::isnan(score) ? -HUGE_VALF : score; };
  return value(a.score) != value(b.score) ? value(a.score) > value(b.score) : a.row < b.row;
}

void BestRows::offer(const RowScore& row) {
  if (heap_.size() < count_) {
    heap_.push_back(row);
    std::ranges::push_heap(heap_, is_nearer);
  } else if (count_ > 0 && is_nearer(row, heap_.front())) {
    std::ranges::pop_heap(heap_, is_nearer);
    heap_.back() = row;
    std::ranges::push_heap(heap_, is_nearer);
  }
}

void BestRows::offer(std::size_t first, std::span<const float> scores) {
  constexpr std::size_t kGroup = 64;
  for (std::size_t at = 0; at < scores.size(); at += kGroup) {
    const std::span<const float> group = scores.subspan(at, std::min(kGroup, scores.size() - at));
    // Most groups of a large table end here, by a loop without a branch. Rows may come in any order, so that equal
    // scores are compared in full.
    if (heap_.size() == count_) {
      if (count_ == 0) return;
      const float last = heap_.front().score;
      unsigned is_any = 0;
      for (const float score : group) is_any |= score < last ? 0U : 1U;
      if (is_any == 0) continue;
    }
    for (std::size_t i = 0; i < group.size(); ++i) offer({.row = first + at + i, .score = group[i]});
  }
}

std::vector<RowScore> BestRows::take() {
  std::ranges::sort_heap(heap_, is_nearer);
  return std::exchange(heap_, {});
}

std::vector<RowScore> nearest_rows(std::size_t rows, std::size_t count, const ScoreRows& score, base::ThreadPool& pool,
                                   const base::Cancellation& cancellation) {
  const std::size_t kept = std::min(count, rows), blocks = (rows + kBlockRows - 1) / kBlockRows;
  std::vector<BestRows> best(std::max<std::size_t>(1, std::min(pool.size(), blocks)), BestRows(kept));
  pool.parallel_for(blocks, best.size(), [&](std::size_t block, std::size_t worker) {
    cancellation.check();
    std::array<float, kBlockRows> scores;
    const std::size_t begin = block * kBlockRows, taken = std::min(kBlockRows, rows - begin);
    score(begin, std::span(scores).first(taken));
    best[worker].offer(begin, std::span(scores).first(taken));
  });
  BestRows all(kept);
  for (BestRows& part : best) {
    for (const RowScore& row : part.take()) all.offer(row);
  }
  return all.take();
}

}  // namespace alate::search
