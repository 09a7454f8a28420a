#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/search.h"
#include "backends/cpu/kernels/rows/row_products.h"
#include "base/threads/controlled_call.h"
#include "base/threads/thread_pool.h"
#include "formats/json.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/rerank/rerank_run.h"
#include "search/index_file.h"
#include "search/index_identity.h"
#include "search/matches.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {

struct SearchIndex::State {
  search::IndexFile file;
};

namespace {

using search::IndexFile;

// The `count` passages with the highest scores, the best first; equal ones in their order, NaN last.
std::vector<std::size_t> nearest(std::span<const float> scores, std::size_t count) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto value = [&](std::size_t i) { return std::isnan(scores[i]) ? -HUGE_VALF : scores[i]; };
  const auto is_better = [&](std::size_t a, std::size_t b) {
    return value(a) != value(b) ? value(a) > value(b) : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::ranges::partial_sort(order, end, is_better);
  order.erase(end, order.end());
  return order;
}

void require_same_model(const IndexFile& index, const EmbeddingPipeline& pipeline) {
  const bool has_width = index.dimensions() == pipeline.dimensions();
  if (has_width && index.origin().identity.starts_with(search::vector_identity(pipeline))) return;
  throw make_error(ErrorCode::invalid_argument, "the index was made with the model ",
                   formats::quoted_name(index.origin().model),
                   " and these vectors cannot be compared with those of this model, backend or type; search with that "
                   "one, or build the index again");
}

// The question's words, without those that most passages have; some passages stand for all.
search::QuestionWords telling_words(std::string_view question, const IndexFile& index) {
  constexpr std::size_t kPassages = 256;
  std::vector<std::string_view> some;
  const std::size_t step = index.size() / kPassages + 1;
  for (std::size_t i = 0; i < index.size(); i += step) some.push_back(index.text(i));
  search::QuestionWords words(question);
  words.drop_common(some);
  return words;
}

SearchResult result_of(const IndexFile& index, std::size_t passage, float score, const search::QuestionWords& words) {
  const search::Place place = index.place(passage);
  const auto number = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  SearchResult result{.id = passage,
                      .file = index.files()[number(place.file)].name,
                      .line = number(place.line),
                      .start = number(place.start),
                      .end = number(place.end),
                      .byte_start = number(place.byte_start),
                      .byte_end = number(place.byte_end),
                      .text = std::string(index.text(passage)),
                      .score = score,
                      .spans = {}};
  if (auto repaired = tokenizers::repair_utf8(result.text)) result.text = std::move(*repaired);
  result.spans = words.in(result.text);
  for (auto& [start, end] : result.spans) {
    start += result.start;
    end += result.start;
  }
  return result;
}

}  // namespace

SearchIndex SearchIndex::open(const std::filesystem::path& folder) {
  return SearchIndex(std::make_shared<const State>(State{IndexFile(folder / search::kIndexFile)}));
}

std::size_t SearchIndex::size() const { return state_->file.size(); }
std::size_t SearchIndex::dimensions() const { return state_->file.dimensions(); }
const std::string& SearchIndex::model() const { return state_->file.origin().model; }

std::vector<SearchResult> SearchIndex::search(const EmbeddingPipeline& pipeline, std::string_view question,
                                              const SearchOptions& options,
                                              const std::optional<RerankPipeline>& reranker,
                                              const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const IndexFile& index = state_->file;
    require_same_model(index, pipeline);
    const backends::RunOptions run{.cancellation = call.cancellation()};
    const Embeddings asked = pipelines::embed_texts(pipeline, std::span<const std::string_view>(&question, 1),
                                                    search::question_options(), run);
    std::vector<float> scores(index.size());
    cpu::dot_rows({.m = index.vectors().data(),
                   .m_stride = index.dimensions(),
                   .x = asked.vectors.values<float>().data(),
                   .out = scores.data(),
                   .rows = index.size(),
                   .width = index.dimensions()},
                  base::ThreadPool::shared(), 0);
    std::vector<std::size_t> passages =
        nearest(scores, reranker ? std::max(options.top, options.rerank_count) : options.top);
    const search::QuestionWords words = telling_words(question, index);
    std::vector<SearchResult> results;
    for (const std::size_t passage : passages) results.push_back(result_of(index, passage, scores[passage], words));
    index.require_unchanged();
    if (!reranker) return results;

    std::vector<std::string_view> texts;
    for (const SearchResult& result : results) texts.push_back(result.text);
    const std::unique_ptr<pipelines::RerankRun> reading =
        pipelines::begin_rerank(*reranker, question, std::move(texts), {});
    pipelines::run_prepared(*reading, reading->prepare(run.cancellation), {}, run);
    std::vector<SearchResult> ranked;
    for (const std::size_t i : best_first(reading->scores(), options.top)) {
      ranked.push_back(std::move(results[i]));
      ranked.back().score = reading->scores()[i];
    }
    return ranked;
  });
}

}  // namespace alate
