#include "pipelines/fill/fill_program.h"

#include <algorithm>
#include <utility>

#include "base/threads/thread_pool.h"

namespace alate::pipelines {
namespace {

// Probabilities that are held at a time.
constexpr std::size_t kMostNumbers = std::size_t{16} << 20;

bool is_better(const ScoredToken& a, const ScoredToken& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

// The hidden states of `places`.
Tensor gathered(const Tensor& hidden, std::span<const std::size_t> places) {
  const auto width = static_cast<std::size_t>(hidden.extent(1));
  Tensor rows = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(places.size()), hidden.extent(1)}});
  auto to = rows.mutable_values<float>().begin();
  for (const std::size_t place : places)
    to = std::ranges::copy(hidden.values<float>().subspan(place * width, width), to).out;
  return rows;
}

}  // namespace

std::vector<ScoredToken> best_tokens(std::span<const float> scores, std::size_t count) {
  std::vector<ScoredToken> best;  // a heap, the worst first
  for (std::size_t i = 0; i < scores.size() && count > 0; ++i) {
    const ScoredToken token{static_cast<std::int32_t>(i), scores[i]};
    if (!(token.score >= 0)) continue;
    if (best.size() == count) {
      if (!is_better(token, best.front())) continue;
      std::ranges::pop_heap(best, is_better);
      best.pop_back();
    }
    best.push_back(token);
    std::ranges::push_heap(best, is_better);
  }
  std::ranges::sort(best, is_better);
  return best;
}

FillProgram::FillProgram(std::shared_ptr<const runtime::EntryPoint> encoder,
                         std::shared_ptr<const runtime::HeadProgram> head, std::int32_t mask_id, std::size_t count,
                         std::vector<std::int32_t> targets)
    : encoder_(std::move(encoder)),
      head_(std::move(head)),
      mask_id_(mask_id),
      count_(count),
      targets_(std::move(targets)) {}

std::size_t FillProgram::width(const runtime::BatchRow& row) const {
  return 2 * count_ * static_cast<std::size_t>(std::ranges::count(row.ids, mask_id_));
}

Tensor FillProgram::run_rows(std::span<const runtime::BatchRow* const> rows,
                             const backends::RunOptions& options) const {
  std::vector<std::size_t> places;
  std::size_t tokens = 0;
  for (const runtime::BatchRow* row : rows) {
    for (const std::int32_t id : row->ids) {
      if (id == mask_id_) places.push_back(tokens);
      ++tokens;
    }
  }
  const std::size_t numbers = 2 * count_;
  Tensor result = Tensor::zeros({DType::f32, {static_cast<std::int64_t>(places.size() * numbers)}});
  if (places.empty()) return result;
  const Tensor hidden = encoder_->run_rows(rows, options);
  const std::span<float> all = result.mutable_values<float>();
  const std::size_t vocabulary = head_->width(), at_once = std::max<std::size_t>(kMostNumbers / vocabulary, 1);
  for (std::size_t first = 0; first < places.size(); first += at_once) {
    const std::size_t count = std::min(at_once, places.size() - first);
    const Tensor probabilities = head_->run(gathered(hidden, std::span(places).subspan(first, count)), options);
    const std::span<const float> values = probabilities.values<float>();
    base::ThreadPool::shared().parallel_for(count, options.max_workers, [&](std::size_t i, std::size_t) {
      write_best(values.subspan(i * vocabulary, vocabulary), all.subspan((first + i) * numbers, numbers));
    });
  }
  return result;
}

void FillProgram::write_best(std::span<const float> probabilities, std::span<float> to) const {
  std::vector<float> wanted;
  for (const std::int32_t id : targets_) wanted.push_back(probabilities[static_cast<std::size_t>(id)]);
  std::vector<ScoredToken> best = best_tokens(targets_.empty() ? probabilities : wanted, count_);
  best.resize(count_, {.id = -1, .score = 0});
  for (std::size_t i = 0; i < count_; ++i) {
    const std::int32_t id = best[i].id;
    to[2 * i] = static_cast<float>(id < 0 || targets_.empty() ? id : targets_[static_cast<std::size_t>(id)]);
    to[2 * i + 1] = best[i].score;
  }
}

std::vector<std::vector<ScoredToken>> FillProgram::read(std::span<const float> numbers) const {
  std::vector<std::vector<ScoredToken>> masks;
  for (; !numbers.empty(); numbers = numbers.subspan(2 * count_)) {
    std::vector<ScoredToken>& tokens = masks.emplace_back();
    for (std::size_t i = 0; i < count_ && numbers[2 * i] >= 0; ++i)
      tokens.push_back({static_cast<std::int32_t>(numbers[2 * i]), numbers[2 * i + 1]});
  }
  return masks;
}

}  // namespace alate::pipelines
