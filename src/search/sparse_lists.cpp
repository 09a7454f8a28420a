#include "search/sparse_lists.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "alate/error.h"

namespace alate::search {
namespace {

constexpr float kFusionRank = 60;

std::size_t begin_of(const SparseTable& table, std::size_t place) {
  return place == 0 ? 0 : static_cast<std::size_t>(table.ends[place - 1]);
}

std::size_t count_of(const SparseTable& table, std::size_t place) {
  return static_cast<std::size_t>(table.ends[place]) - begin_of(table, place);
}

}  // namespace

std::span<const std::int32_t> SparseTable::passages_of(std::size_t place) const {
  return passages.subspan(begin_of(*this, place), count_of(*this, place));
}
std::span<const float> SparseTable::weights_of(std::size_t place) const {
  return weights.subspan(begin_of(*this, place), count_of(*this, place));
}

SparseLists invert(std::span<const SparseEmbedding> vectors) {
  std::vector<std::tuple<std::int32_t, std::int32_t, float>> postings;  // term, passage, weight
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (std::size_t j = 0; j < vectors[i].indices.size(); ++j)
      postings.emplace_back(vectors[i].indices[j], static_cast<std::int32_t>(i), vectors[i].values[j]);
  }
  std::ranges::sort(postings, {},
                    [](const auto& posting) { return std::pair(std::get<0>(posting), std::get<1>(posting)); });
  SparseLists lists;
  for (const auto& [term, passage, weight] : postings) {
    if (lists.terms.empty() || lists.terms.back() != term) {
      lists.terms.push_back(term);
      lists.ends.push_back(lists.ends.empty() ? 0 : lists.ends.back());
    }
    lists.passages.push_back(passage);
    lists.weights.push_back(weight);
    ++lists.ends.back();
  }
  return lists;
}

void for_each_term(
    std::span<const SparseRun> runs,
    const std::function<void(std::int32_t term, const SparseRun& run, std::span<const std::int32_t> passages,
                             std::span<const float> weights)>& visit) {
  using Next = std::pair<std::int32_t, std::size_t>;  // a term, and the run that is there
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<std::size_t> places(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].table.empty()) next.emplace(runs[i].table.terms[0], i);
  }
  while (!next.empty()) {
    const auto [term, i] = next.top();
    next.pop();
    const SparseRun& run = runs[i];
    const std::size_t place = places[i]++;
    if (places[i] < run.table.terms.size()) next.emplace(run.table.terms[places[i]], i);
    const std::span<const std::int32_t> passages = run.table.passages_of(place);
    const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    const auto begin = std::ranges::lower_bound(passages, number(run.first)) - passages.begin();
    const auto end = std::ranges::lower_bound(passages, number(run.first + run.count)) - passages.begin();
    if (begin >= end) continue;
    const auto from = static_cast<std::size_t>(begin), taken = static_cast<std::size_t>(end - begin);
    visit(term, run, passages.subspan(from, taken), run.table.weights_of(place).subspan(from, taken));
  }
}

std::vector<RowScore> nearest_sparse(const SparseTable& table, std::size_t rows, const SparseEmbedding& question,
                                     std::size_t count, const base::Cancellation& cancellation) {
  std::vector<float> scores(rows);
  std::vector<bool> is_found(rows);
  for (std::size_t i = 0; i < question.indices.size(); ++i) {
    cancellation.check();
    const auto found = std::ranges::lower_bound(table.terms, question.indices[i]);
    if (found == table.terms.end() || *found != question.indices[i]) continue;
    const auto place = static_cast<std::size_t>(found - table.terms.begin());
    const std::span<const std::int32_t> passages = table.passages_of(place);
    const std::span<const float> weights = table.weights_of(place);
    for (std::size_t j = 0; j < passages.size(); ++j) {
      const auto passage = static_cast<std::size_t>(passages[j]);
      if (passages[j] < 0 || passage >= rows)
        throw Error(ErrorCode::corrupt,
                    "an index contradicts itself: a weight is of no passage; build the index again");
      scores[passage] += question.values[i] * weights[j];
      is_found[passage] = true;
    }
  }
  BestRows best(std::min(count, rows));
  for (std::size_t row = 0; row < rows; ++row) {
    if (is_found[row]) best.offer({.row = row, .score = scores[row]});
  }
  return best.take();
}

std::vector<RowScore> fused_by_rank(std::span<const std::vector<RowScore>> lists, std::size_t count) {
  std::map<std::size_t, float> scores;
  for (const std::vector<RowScore>& list : lists) {
    float rank = 0;
    for (const RowScore& row : list) scores[row.row] += 1 / (kFusionRank + ++rank);
  }
  BestRows best(std::min(count, scores.size()));
  for (const auto& [row, score] : scores) best.offer({.row = row, .score = score});
  return best.take();
}

}  // namespace alate::search
