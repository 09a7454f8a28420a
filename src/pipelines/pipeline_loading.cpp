// Loading an embedding pipeline, and the check that it could be loaded.
#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/os/process_limits.h"
#include "base/threads/thread_pool.h"
#include "pipelines/check_loadable.h"
#include "pipelines/dtype_choice.h"
#include "pipelines/embedding_graph.h"
#include "pipelines/embedding_rows.h"
#include "pipelines/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

EmbeddingPipeline EmbeddingPipeline::load(const std::filesystem::path& folder, const LoadOptions& options) {
  if (options.dtype == "auto") return pipelines::load_fastest(folder, options);
  return pipelines::load_pipeline(folder, options).pipeline;
}

namespace pipelines {
namespace {

// Whether the tokenizer is loaded in parallel with the model: a large vocabulary takes many milliseconds. Not where one
// thread was asked for, nor where address space is limited: another thread takes a stack and a heap of its own.
bool may_load_side_by_side(const LoadOptions& options) {
  return options.threads != 1 && base::ThreadPool::shared().size() > 1 && base::process_limits().limit_bytes == 0;
}

// A pipeline before a backend is chosen.
struct PipelineFiles {
  EmbeddingModules modules;
  std::shared_ptr<Model::State> model;
  std::future<Tokenizer> tokenizer;  // its error comes after the model's: without a known architecture it is of no use
};

PipelineFiles read_files(const std::filesystem::path& folder, const LoadOptions& options) {
  const std::filesystem::path home = runtime::find_model_files(folder, options).folder;
  constexpr std::launch kEither =
      std::launch::async | std::launch::deferred;  // on this thread when no other can be started
  const std::launch when = may_load_side_by_side(options) ? kEither : std::launch::deferred;
  PipelineFiles files;
  files.tokenizer = std::async(when, [home] { return Tokenizer::load(home); });
  if (when == std::launch::deferred) files.tokenizer.wait();
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
  LoadOptions options = given.dtype == "auto" ? exact_options(folder, given) : given;
  options.dump_graphs.clear();
  PipelineFiles files = read_files(folder, options);
  files.tokenizer.get();
  files.model->bind_to_backend(
      [&](const Model::State& on) { check_embedding(on, files.modules, files.modules.normalizes()); }, {},
      Model::State::Purpose::check);
  return files.model->facts.selection;
}

}  // namespace pipelines
}  // namespace alate
