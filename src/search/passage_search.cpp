#include "search/passage_search.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "alate/rerank.h"
#include "search/index_identity.h"
#include "search/matches.h"
#include "search/sparse_lists.h"
#include "search/vector_table.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

// The question's words, without those that most passages have; some passages stand for all.
QuestionWords telling_words(std::string_view question, const IndexFile& index) {
  constexpr std::size_t kPassages = 256;
  std::vector<std::string_view> some;
  const std::size_t step = index.size() / kPassages + 1;
  for (std::size_t i = 0; i < index.size(); i += step) some.push_back(index.text(i));
  QuestionWords words(question);
  words.drop_common(some);
  return words;
}

SearchResult result_of(const IndexFile& index, std::size_t passage, float score, const QuestionWords& words) {
  const Place place = index.place(passage);
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

bool is_of_model(const IndexFile& index, const EmbeddingPipeline& pipeline) {
  if (index.has_dense() && index.dimensions() != pipeline.dimensions()) return false;
  const std::string& identity = index.origin().identity;
  return identity.starts_with(vector_identity(pipeline)) &&
         (!index.has_sparse() || identity.ends_with(sparse_identity(pipeline)));
}

std::vector<RowScore> nearest_passages(const IndexFile& index, const EmbeddingKinds& kinds,
                                       std::span<const float> dense, const SparseEmbedding& sparse, std::size_t count,
                                       base::ThreadPool& pool, const base::Cancellation& cancellation) {
  const std::size_t candidates = kinds.dense && kinds.sparse ? std::max(count, kFusedCandidates) : count;
  std::vector<std::vector<RowScore>> lists;
  if (kinds.dense) lists.push_back(nearest_vectors(index.vectors(), dense, candidates, pool, cancellation));
  if (kinds.sparse) lists.push_back(nearest_sparse(index.sparse(), index.size(), sparse, candidates, cancellation));
  return lists.size() == 1 ? std::move(lists.front()) : fused_by_rank(lists, count);
}

std::vector<SearchResult> results_of(const IndexFile& index, std::string_view question,
                                     std::span<const RowScore> passages) {
  const QuestionWords words = telling_words(question, index);
  std::vector<SearchResult> results;
  for (const RowScore& passage : passages) results.push_back(result_of(index, passage.row, passage.score, words));
  index.require_unchanged();
  return results;
}

std::size_t candidates_of(const SearchOptions& options, bool has_reranker) {
  return has_reranker ? std::max(options.top, options.rerank_count) : options.top;
}

std::vector<SearchResult> reranked(std::vector<SearchResult> results, std::span<const float> scores,
                                   std::span<const float> raw_scores, std::size_t count) {
  std::vector<SearchResult> ranked;
  for (const std::size_t i : best_first(scores, count, raw_scores)) {
    ranked.push_back(std::move(results[i]));
    ranked.back().score = scores[i];
  }
  return ranked;
}

}  // namespace alate::search
