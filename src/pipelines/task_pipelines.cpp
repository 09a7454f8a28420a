#include "pipelines/task_pipelines.h"

#include <algorithm>

#include "alate/error.h"
#include "pipelines/calls/special_tokens.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/modules/rerank_head.h"
#include "pipelines/rerank/rerank_run.h"
#include "pipelines/tasks/task_head.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/step_memory.h"
#include "tokenizers/sources/load_tokenizer.h"

namespace alate::pipelines {

bool has_tokenizer(const std::filesystem::path& folder, const LoadOptions& options) {
  const runtime::ModelFiles files = runtime::find_model_files(folder, options);
  return files.is_gguf() || tokenizers::has_tokenizer(files.folder);
}

TaskPipelines TaskPipelines::load(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                  const RunControl& control) {
  TaskPipelines loaded(tasks_of(folder, request.options));
  if (!pipelines::has_tokenizer(folder, request.options)) {
    loaded.bare_model_ = runtime::load_model(folder, request, control);
    return loaded;
  }
  if (is_bare_language_model(folder, request.options)) {
    loaded.tasks_ = {Task::generate};
    loaded.generator_ = load_generator(folder, request, control);
    return loaded;
  }
  if (const Task main = loaded.tasks_.front(); main == Task::embed) {
    loaded.embedding_ = load_embedding(folder, EmbeddingRequest(request).forced(), control);
  } else if (main == Task::rerank) {
    loaded.reranker_ = load_reranker(folder, request, control);
    loaded.text_model_ = static_cast<const TextModel&>(loaded.reranker_->state());
    return loaded;
  } else {
    loaded.text_model_ = load_text_model(folder, request, main, control);
  }
  const auto& tasks = loaded.tasks_;
  if (std::ranges::find(tasks, Task::fill) != tasks.end()) {
    if (loaded.embedding_) {
      const EmbeddingPipeline& embedding = *loaded.embedding_;
      loaded.text_model_ = TextModel{.model = embedding.model(),
                                     .tokenizer = embedding.tokenizer(),
                                     .max_length = embedding.max_length(),
                                     .settings = read_tokenizer_settings(embedding.model().folder())};
    }
    const TextModel& text_model = *loaded.text_model_;
    if (const auto mask = mask_token(*text_model.settings, text_model.tokenizer)) loaded.mask_ = mask->text;
  }
  if (std::ranges::find(tasks, Task::rerank) != tasks.end()) loaded.reranker_ = loaded.made_reranker();
  return loaded;
}

void TaskPipelines::require_tokenizer() const {
  if (!bare_model_) return;
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(bare_model_->folder()),
                   "' has no tokenizer: it reads token ids (POST /v2/models/MODEL/infer with input_ids, or `alate "
                   "forward`) and no texts; put its tokenizer.json into its folder");
}

const EmbeddingPipeline& TaskPipelines::embedding() const {
  require_tokenizer();
  if (generator_) throw bare_language_model_error(model().folder());
  if (embedding_) return *embedding_;
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model().folder()), "' is ",
                   task_head(tasks_.front()).noun, ": it ", description(tasks_.front()),
                   ", and gives no vectors; name a model for embedding, or ask this one to ", to_string(tasks_.front()),
                   ": ", class_of(model().state()));
}

const TextGenerator& TaskPipelines::generator() const {
  require_tokenizer();
  if (generator_) return *generator_;
  const Task main = tasks_.front();
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model().folder()), "' is ",
                   main == Task::embed ? "an embedder" : task_head(main).noun, ": it ", description(main),
                   ", and writes no texts; name a language model: ", class_of(model().state()));
}

TextModel TaskPipelines::text_model() const {
  require_tokenizer();
  if (generator_) return generator_->state().model;
  if (text_model_) return *text_model_;
  return {.model = embedding_->model(), .tokenizer = embedding_->tokenizer(), .max_length = embedding_->max_length()};
}

RerankPipeline TaskPipelines::made_reranker() const {
  if (embedding_ && embedding_->kinds().multi_vector) return reranker_of(*embedding_);
  return reranker_of(text_model());
}

RerankPipeline TaskPipelines::reranker() const {
  require_tokenizer();
  return reranker_ ? *reranker_ : made_reranker();
}

const Model& TaskPipelines::model() const {
  if (bare_model_) return *bare_model_;
  if (generator_) return generator_->model();
  return embedding_ ? embedding_->model() : text_model_->model;
}
const Tokenizer& TaskPipelines::tokenizer() const {
  require_tokenizer();
  if (generator_) return generator_->tokenizer();
  return embedding_ ? embedding_->tokenizer() : text_model_->tokenizer;
}
std::size_t TaskPipelines::max_length() const {
  if (bare_model_) return bare_model_->facts().max_positions;
  if (generator_) return generator_->context();
  return embedding_ ? embedding_->max_length() : text_model_->max_length;
}

Fingerprint TaskPipelines::fingerprint() const {
  return embedding_ ? embedding_->state().fingerprint() : model().fingerprint();
}

std::size_t TaskPipelines::cache_bytes() const {
  if (!generator_) return 0;
  const auto program = model().state().step_program();
  return static_cast<std::size_t>(runtime::cache_bytes(program->bound(), program->layout()));
}

std::size_t TaskPipelines::weight_bytes() const {
  if (generator_) return model().state().step_program()->facts().weight_bytes;
  if (bare_model_) {
    const Model::State& state = bare_model_->state();
    const bool is_file = !state.form->file_extension().empty();
    return is_file ? state.form->weight_bytes() : state.forward_entry_point().facts().weight_bytes;
  }
  if (embedding_) {
    std::size_t bytes = embedding_->state().main_entry_point()->facts().weight_bytes;
    for (const EmbeddingPipeline& other : embedding_->state().others())
      bytes += other.state().main_entry_point()->facts().weight_bytes;
    return bytes;
  }
  if (reranker_)
    return rerank_entry_point(text_model_->model.state(), reranker_->state().scorer())->facts().weight_bytes;
  return task_entry_point(*text_model_, tasks_.front())->facts().weight_bytes;
}

}  // namespace alate::pipelines
