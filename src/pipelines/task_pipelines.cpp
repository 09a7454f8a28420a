#include "pipelines/task_pipelines.h"

#include <algorithm>

#include "alate/error.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/rerank/rerank_rows.h"

namespace alate::pipelines {

TaskPipelines TaskPipelines::load(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                  const RunControl& control) {
  TaskPipelines loaded(tasks_of(folder, request.options));
  if (loaded.tasks_.front() == Task::rerank) {
    loaded.reranker_ = load_reranker(folder, request, control);
  } else {
    loaded.embedding_ = load_embedding(folder, request, control);
  }
  return loaded;
}

const EmbeddingPipeline& TaskPipelines::embedding() const {
  if (embedding_) return *embedding_;
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model().folder()),
                   "' is a reranker: it scores how well texts answer a query, and gives no vectors; name a model for "
                   "embedding, or ask for its scores: ",
                   class_of(model().state()));
}

RerankPipeline TaskPipelines::reranker() const { return reranker_ ? *reranker_ : reranker_of(*embedding_); }

const Model& TaskPipelines::model() const { return embedding_ ? embedding_->model() : reranker_->model(); }
const Tokenizer& TaskPipelines::tokenizer() const {
  return embedding_ ? embedding_->tokenizer() : reranker_->tokenizer();
}
std::size_t TaskPipelines::max_length() const {
  return embedding_ ? embedding_->max_length() : reranker_->max_length();
}

std::size_t TaskPipelines::weight_bytes() const {
  if (!embedding_) return reranker_->state().entry_point()->facts().weight_bytes;
  return embedding_->state().main_entry_point()->facts().weight_bytes;
}

}  // namespace alate::pipelines
