// The stages of SearchIndex::search one by one, for code that batches the questions of many callers.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "alate/search.h"
#include "search/index_file.h"
#include "search/nearest_rows.h"

namespace alate::search {

/// Whether the index has vectors as this model makes them. Reads the settings of the model's folder.
bool is_of_model(const IndexFile& index, const EmbeddingPipeline& pipeline);

/// The `count` passages nearest to a question, whose vectors are of `kinds` (kinds_of_mode). Of both kinds, the best of
/// each, kFusedCandidates or `count` if that is more, are joined by fused_by_rank. Throws corrupt, cancelled.
std::vector<RowScore> nearest_passages(const IndexFile& index, const EmbeddingKinds& kinds,
                                       std::span<const float> dense, const SparseEmbedding& sparse, std::size_t count,
                                       base::ThreadPool& pool, const base::Cancellation& cancellation);
inline constexpr std::size_t kFusedCandidates = 100;

/// These passages as results, with the question's words marked.
std::vector<SearchResult> results_of(const IndexFile& index, std::string_view question,
                                     std::span<const RowScore> passages);

/// How many passages a reranker reads so that `options.top` are best.
std::size_t candidates_of(const SearchOptions& options, bool has_reranker);

/// The first `count` of `results` by a reranker's scores of them, which become their own; `raw_scores` are as in
/// best_first.
std::vector<SearchResult> reranked(std::vector<SearchResult> results, std::span<const float> scores,
                                   std::span<const float> raw_scores, std::size_t count);

}  // namespace alate::search
