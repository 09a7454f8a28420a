// Loading an embedding pipeline, and the check that it could be loaded.
#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "alate/embedding.h"
#include "alate/error.h"
#include "pipelines/check_loadable.h"
#include "pipelines/dtype_choice.h"
#include "pipelines/embedding_graph.h"
#include "pipelines/embedding_rows.h"
#include "pipelines/modules.h"
#include "pipelines/rerank_rows.h"
#include "pipelines/tasks.h"
#include "pipelines/tokenizer_loading.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

EmbeddingPipeline EmbeddingPipeline::load(const std::filesystem::path& folder, const LoadOptions& options) {
  if (options.dtype == "auto") return pipelines::load_fastest(folder, options);
  return pipelines::load_pipeline(folder, options).pipeline;
}

namespace pipelines {
namespace {

// A pipeline before a backend is chosen.
struct PipelineFiles {
  EmbeddingModules modules;
  std::shared_ptr<Model::State> model;
  std::future<Tokenizer> tokenizer;  // its error comes after the model's: without a known architecture it is of no use
};

PipelineFiles read_files(const std::filesystem::path& folder, const LoadOptions& options) {
  const std::filesystem::path home = runtime::find_model_files(folder, options).folder;
  PipelineFiles files;
  files.tokenizer = begin_loading_tokenizer(home, options);
  files.modules = read_modules(home);
  if (!options.pooling.empty()) files.modules.pooling = {pool_mode(options.pooling)};
  files.model = Model::State::read(folder, options);
  return files;
}

}  // namespace

LoadedPipeline load_pipeline(const std::filesystem::path& folder, const LoadOptions& options) {
  PipelineFiles files = read_files(folder, options);
  const bool normalize = files.modules.normalizes();
  try {
    files.model->bind_to_backend([&](const Model::State& on) { embedding_entry_point(on, files.modules, normalize); });
  } catch (...) {
    files.tokenizer.get();  // if both fail, always the same error is reported
    throw;
  }
  auto state =
      std::make_shared<EmbeddingPipeline::State>(Model(files.model), files.tokenizer.get(), std::move(files.modules));
  state->max_length = std::min(state->modules.max_length.value_or(state->model.facts().max_positions),
                               state->model.facts().max_positions);
  state->dimensions = state->entry_point(normalize)->width().row;
  return {.pipeline = EmbeddingPipeline(std::move(state)), .model = std::move(files.model)};
}

Selection check_loadable(const std::filesystem::path& folder, const LoadOptions& given) {
  const bool reranks = tasks_of(folder, given).front() == Task::rerank;
  LoadOptions options = given.dtype == "auto" && !reranks ? exact_options(folder, given) : given;
  options.dump_graphs.clear();
  PipelineFiles files = read_files(folder, options);
  if (reranks) require_cross_encoder(*files.model);
  files.tokenizer.get();
  const auto check = [&](const Model::State& on) {
    if (reranks) return check_rerank(on);
    check_embedding(on, files.modules, files.modules.normalizes());
  };
  files.model->bind_to_backend(check, {}, Model::State::Purpose::check);
  return files.model->facts.selection;
}

}  // namespace pipelines
}  // namespace alate
