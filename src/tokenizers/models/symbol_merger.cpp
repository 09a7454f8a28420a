#include "tokenizers/models/symbol_merger.h"

#include <algorithm>
#include <functional>

namespace alate::tokenizers {
namespace {

constexpr std::uint32_t kEnd = 0xFFFFFFFF;

}  // namespace

void SymbolMerger::merge(const MergeTable& merges, bool exact_order, WorkBudget& budget, std::vector<Token>& out) {
  if (ids_.size() > 1 && !merges.empty()) {
    if (ids_.size() <= kShort && !exact_order) {
      merge_short(merges);
    } else {
      merge_long(merges, budget);
    }
  }
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (lengths_[i] == 0) continue;
    out.push_back({ids_[i], begin, begin + lengths_[i]});
    begin += lengths_[i];
  }
}

// The best pair is searched anew after every merge.
void SymbolMerger::merge_short(const MergeTable& merges) {
  std::size_t count = ids_.size();
  ranks_.resize(count);
  for (std::size_t i = 0; i + 1 < count; ++i) ranks_[i] = merges.rank(ids_[i], ids_[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (ranks_[i] < ranks_[best]) best = i;
    }
    if (ranks_[best] == MergeTable::kNone) break;
    ids_[best] = merges.merged(ranks_[best]);
    lengths_[best] += lengths_[best + 1];
    for (std::size_t i = best + 1; i + 1 < count; ++i) {
      ids_[i] = ids_[i + 1];
      lengths_[i] = lengths_[i + 1];
      ranks_[i] = ranks_[i + 1];
    }
    --count;
    if (best > 0) ranks_[best - 1] = merges.rank(ids_[best - 1], ids_[best]);
    if (best + 1 < count) ranks_[best] = merges.rank(ids_[best], ids_[best + 1]);
  }
  ids_.resize(count);
  lengths_.resize(count);
}

// Word::merge_all of the reference: entries of the queue whose pair has changed since are passed over, unless the
// present pair makes the same token.
void SymbolMerger::merge_long(const MergeTable& merges, WorkBudget& budget) {
  const std::size_t count = ids_.size();
  previous_.resize(count);
  next_.resize(count);
  queue_.clear();
  const auto consider = [&](std::uint32_t at, std::uint32_t next) {
    const std::uint32_t rank = merges.rank(ids_[at], ids_[next]);
    if (rank == MergeTable::kNone) return false;
    queue_.push_back(std::uint64_t{rank} << 32 | at);
    return true;
  };
  Progress progress(budget);
  for (std::uint32_t i = 0; i < count; ++i) {
    progress.reached(i);
    previous_[i] = i - 1;  // kEnd for the first
    next_[i] = i + 1 < count ? i + 1 : kEnd;
    if (i + 1 < count) consider(i, i + 1);
  }
  const std::greater<> later;
  std::make_heap(queue_.begin(), queue_.end(), later);
  while (!queue_.empty()) {
    budget.count_steps(1);
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const auto at = static_cast<std::uint32_t>(queue_.back());
    const auto rank = static_cast<std::uint32_t>(queue_.back() >> 32);
    queue_.pop_back();
    if (lengths_[at] == 0 || next_[at] == kEnd) continue;
    const std::uint32_t right = next_[at];
    const std::uint32_t present = merges.rank(ids_[at], ids_[right]);
    if (present == MergeTable::kNone || merges.merged(present) != merges.merged(rank)) continue;
    ids_[at] = merges.merged(rank);
    lengths_[at] += lengths_[right];
    lengths_[right] = 0;
    next_[at] = next_[right];
    if (next_[at] != kEnd) previous_[next_[at]] = at;
    if (previous_[at] != kEnd && consider(previous_[at], at)) std::push_heap(queue_.begin(), queue_.end(), later);
    if (next_[at] != kEnd && consider(at, next_[at])) std::push_heap(queue_.begin(), queue_.end(), later);
  }
}

}  // namespace alate::tokenizers
