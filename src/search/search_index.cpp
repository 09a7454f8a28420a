#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/search.h"
#include "base/threads/controlled_call.h"
#include "base/threads/thread_pool.h"
#include "formats/json.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/rerank/rerank_run.h"
#include "search/index_file.h"
#include "search/index_identity.h"
#include "search/passage_search.h"
#include "search/question_vectors.h"
#include "search/vector_table.h"

namespace alate {

struct SearchIndex::State {
  search::IndexFile file;
};

namespace {

using search::IndexFile;

void require_same_model(const IndexFile& index, const EmbeddingPipeline& pipeline) {
  if (search::is_of_model(index, pipeline)) return;
  throw make_error(ErrorCode::invalid_argument, "the index was made with the model ",
                   formats::quoted_name(index.origin().model),
                   " and these vectors cannot be compared with those of this model, backend or type; search with that "
                   "one, or build the index again");
}

}  // namespace

std::string_view to_string(SearchMode mode) {
  switch (mode) {
    case SearchMode::dense: return "dense";
    case SearchMode::sparse: return "sparse";
    case SearchMode::hybrid: break;
  }
  return "hybrid";
}

std::optional<SearchMode> parse_search_mode(std::string_view name) {
  for (const SearchMode mode : {SearchMode::dense, SearchMode::sparse, SearchMode::hybrid}) {
    if (to_string(mode) == name) return mode;
  }
  return std::nullopt;
}

SearchIndex SearchIndex::open(const std::filesystem::path& folder) {
  return SearchIndex(std::make_shared<const State>(State{IndexFile(folder / search::kIndexFile)}));
}

std::size_t SearchIndex::size() const { return state_->file.size(); }
std::size_t SearchIndex::dimensions() const { return state_->file.dimensions(); }
EmbeddingKinds SearchIndex::kinds() const {
  return {.dense = state_->file.has_dense(), .sparse = state_->file.has_sparse()};
}
Precision SearchIndex::precision() const { return state_->file.vectors().precision; }
const std::string& SearchIndex::model() const { return state_->file.origin().model; }

std::vector<SearchResult> SearchIndex::search(const EmbeddingPipeline& pipeline, std::string_view question,
                                              const SearchOptions& options,
                                              const std::optional<RerankPipeline>& reranker,
                                              const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const IndexFile& index = state_->file;
    require_same_model(index, pipeline);
    const backends::RunOptions run{.cancellation = call.cancellation()};
    const EmbeddingKinds compared = search::kinds_of_mode(index, options.mode);
    const KindEmbeddings asked =
        search::embed_for_index(pipeline, std::span(&question, 1), compared, search::question_options(), run);
    const std::vector<search::RowScore> passages = search::nearest_passages(
        index, compared, compared.dense ? asked.dense.values<float>() : std::span<const float>(),
        compared.sparse ? asked.sparse.front() : SparseEmbedding(),
        search::candidates_of(options, reranker.has_value()), base::ThreadPool::shared(), call.cancellation());
    std::vector<SearchResult> results = search::results_of(index, question, passages);
    if (!reranker) return results;

    std::vector<std::string_view> texts;
    for (const SearchResult& result : results) texts.push_back(result.text);
    const std::unique_ptr<pipelines::RerankRun> reading =
        pipelines::begin_rerank(*reranker, question, std::move(texts), {});
    pipelines::run_prepared(*reading, reading->prepare(run.cancellation), {}, run);
    return search::reranked(std::move(results), reading->scores(), reading->raw_scores(), options.top);
  });
}

}  // namespace alate
