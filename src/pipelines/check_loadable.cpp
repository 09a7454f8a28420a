#include "pipelines/check_loadable.h"

#include <future>
#include <memory>
#include <optional>

#include "alate/tokenizer.h"
#include "pipelines/calls/tokenizer_loading.h"
#include "pipelines/embed/dtype_choice.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/modules/rerank_head.h"
#include "pipelines/modules/score_modules.h"
#include "pipelines/modules/score_tokens.h"
#include "pipelines/rerank/rerank_run.h"
#include "pipelines/tasks/task_head.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {
namespace {

// The check of a task that a head computes.
Selection check_task_loadable(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                              bool has_tokenizer) {
  runtime::LoadWatch unwatched;
  const runtime::ModelFiles found = runtime::find_model_files(folder, request.options);
  std::future<Tokenizer> tokenizer;
  if (has_tokenizer) tokenizer = begin_loading_tokenizer(found.tokenizer(), request.options);
  const std::shared_ptr<Model::State> model = Model::State::read(folder, request, unwatched);
  const bool reranks = task == Task::rerank;
  const std::shared_ptr<const ScoreModules> modules = read_score_modules(found);
  if (reranks) {
    require_reranker(*model, modules.get());
  } else if (modules == nullptr) {
    require_task(*model, task);
  }
  std::optional<Tokenizer> loaded;
  if (has_tokenizer) loaded = tokenizer.get();
  const auto check = [&](const Model::State& on) {
    if (modules != nullptr) return on.check(score_head(modules), models::HeadChoice::none);
    if (reranks && loaded) return check_reranker(on, *loaded);
    if (reranks && is_language_model(on))  // any two tokens will do
      return on.check(rerank_head(on, ScoreTokens{.yes = 0, .no = 1}), models::HeadChoice::none);
    check_task(on, task);
  };
  model->bind_to_backend(check, {}, Model::State::Purpose::check);
  return model->facts.selection;
}

// The same of a language model that generates.
Selection check_generator_loadable(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                   bool has_tokenizer) {
  runtime::LoadWatch unwatched;
  std::future<Tokenizer> tokenizer;
  if (has_tokenizer)
    tokenizer =
        begin_loading_tokenizer(runtime::find_model_files(folder, request.options).tokenizer(), request.options);
  const std::shared_ptr<Model::State> model = Model::State::read(folder, request, unwatched);
  if (has_tokenizer) tokenizer.get();
  model->bind_to_backend([](const Model::State& on) { on.check_step(); }, {}, Model::State::Purpose::check);
  return model->facts.selection;
}

}  // namespace

Selection check_loadable(const std::filesystem::path& folder, runtime::LoadRequest request, bool has_tokenizer) {
  LoadOptions& options = request.options;
  const Task task = tasks_of(folder, options).front();
  options.dump_graphs.clear();
  if (is_bare_language_model(folder, options)) return check_generator_loadable(folder, request, has_tokenizer);
  if (options.dtype == ComputeType::automatic && task == Task::embed) options = exact_options(options);
  return task == Task::embed ? check_embedding(folder, request, has_tokenizer)
                             : check_task_loadable(folder, request, task, has_tokenizer);
}

}  // namespace alate::pipelines
