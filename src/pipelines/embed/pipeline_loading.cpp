// Loading an embedding pipeline, and the check whether it can be loaded.
#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/calls/tokenizer_loading.h"
#include "pipelines/embed/dtype_choice.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/modules/kind_graph.h"
#include "pipelines/modules/kind_modules.h"
#include "pipelines/modules/module_files.h"
#include "pipelines/modules/module_list.h"
#include "pipelines/modules/modules.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

EmbeddingPipeline EmbeddingPipeline::load(const std::filesystem::path& folder, const EmbeddingLoadOptions& options,
                                          const RunControl& control) {
  return pipelines::load_embedding(folder, options, control);
}

namespace pipelines {
namespace {

// A pipeline before a backend is chosen.
struct PipelineFiles {
  KindModules kinds;
  EmbeddingModules modules;
  std::shared_ptr<Model::State> model;
  std::future<Tokenizer> tokenizer;  // its error comes after the model's: without a known architecture it is of no use
};

// What Jina's own code puts before texts of a task, where the modules' settings do not say it.
void add_task_prompts(const formats::Json& config, EmbeddingModules& modules) {
  const formats::Json* prompts = config.find("task_instructions");
  if (prompts == nullptr || prompts->is_null()) return;
  for (const auto& [task, prompt] : prompts->as_object("task_instructions"))
    modules.prompts.emplace(task, prompt.as_string("task_instructions"));
}

PipelineFiles read_files(const std::filesystem::path& folder, const EmbeddingRequest& request,
                         runtime::LoadWatch& watch) {
  const LoadOptions& options = request.load.options;
  const std::filesystem::path& transformer = request.load.transformer;
  const runtime::ModelFiles found = transformer.empty() ? runtime::find_model_files(folder, options)
                                                        : runtime::find_transformer_files(folder, transformer, options);
  PipelineFiles files;
  files.tokenizer = begin_loading_tokenizer(found.tokenizer(), options);
  files.kinds = read_kind_modules(found.home, found.folder);
  files.modules = read_modules(found, files.kinds.has_dense_chain());
  if (request.pooling) files.modules.set_pooling(*request.pooling);
  files.model = Model::State::read(folder, request.load, watch);
  add_task_prompts(files.model->config, files.modules);
  return files;
}

// The requests of the pipelines of routes over other transformers than the first.
std::vector<EmbeddingRequest> other_requests(const Model::State& model, const EmbeddingRequest& request) {
  std::vector<EmbeddingRequest> others;
  if (!request.load.transformer.empty()) return others;
  std::vector<std::filesystem::path> folders = runtime::transformer_folders(model.folder);
  for (std::size_t i = 1; i < folders.size(); ++i) {
    runtime::LoadRequest& load = others.emplace_back(request).load;
    // Each has graphs of the same names.
    if (!load.options.dump_graphs.empty()) load.options.dump_graphs /= folders[i].lexically_relative(model.folder);
    load.transformer = std::move(folders[i]);
  }
  return others;
}

std::shared_ptr<EmbeddingPipeline::State> load_part(PipelineFiles files) {
  const EmbeddingKinds kinds = EmbeddingKinds::only(files.kinds.main_kind());
  const bool normalize = files.modules.normalizes();
  try {
    files.model->bind_to_backend(
        [&](const Model::State& on) { kind_entry_point(on, files.modules, files.kinds, kinds, normalize); });
  } catch (...) {
    files.tokenizer.get();  // if both fail, always the same error is reported
    throw;
  }
  auto state = std::make_shared<EmbeddingPipeline::State>(Model(files.model), files.tokenizer.get(),
                                                          std::move(files.modules), std::move(files.kinds));
  if (const auto& table = state->kinds.static_weights) {
    state->static_tokenizer = Tokenizer::load(table->folder);
    state->static_length = stated_max_length(table->folder);
  }
  const std::size_t positions = state->model.facts().max_positions;
  state->max_length = std::min(state->modules.transformer.max_length.value_or(positions), positions);
  if (state->kinds.is_dense) state->width = state->main_entry_point()->numbers_per_row();
  state->dimensions = std::min(state->modules.kept_dimensions.value_or(state->width), state->width);
  return state;
}

// Loads the pipelines of routes over other transformers.
void add_others(EmbeddingPipeline::State& state, const std::filesystem::path& folder, const EmbeddingRequest& request,
                const runtime::LoadWatch& watch) {
  const std::vector<EmbeddingRequest> others = other_requests(state.model.state(), request);
  if (others.empty()) return;
  const ModuleList list = read_module_list(folder, *read_json(folder, "modules.json"));
  // Of dense vectors, or of sparse ones as wide as a vocabulary.
  const std::size_t width = state.main_entry_point()->numbers_per_row();
  const std::string first = runtime::transformer_folders(folder).front().filename().string();
  for (const EmbeddingRequest& other : others) {
    // The progress that is reported is that of the first load.
    runtime::LoadWatch silent(watch.cancellation());
    const auto made = load_part(read_files(folder, other, silent));
    if (const std::size_t given = made->main_entry_point()->numbers_per_row(); given != width)
      throw make_error(ErrorCode::unsupported, "the routes of the model's Router over '", first, "' and '",
                       other.load.transformer.filename().string(), "' give vectors of ", width, " and ", given,
                       " numbers; both must be as wide here: Router");
    const EmbeddingPipeline pipeline(made);
    for (const std::size_t place : chains_over(other.load.transformer, list)) {
      if (list.chains[place].front().folder == other.load.transformer)
        state.beside.emplace(list.routes.names[place], pipeline);
    }
  }
  state.routes = list.routes;
}

}  // namespace

EmbeddingPipeline load_embedding(const std::filesystem::path& folder, const EmbeddingRequest& request,
                                 const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadWatch watch(call);
    if (!request.force) require_embedder(folder, request.load.options, request.pooling.has_value());
    EmbeddingPipeline loaded = request.load.options.dtype == ComputeType::automatic
                                   ? load_fastest(folder, request, watch)
                                   : load_pipeline(folder, request, watch).pipeline;
    watch.finish();
    return loaded;
  });
}

LoadedPipeline load_pipeline(const std::filesystem::path& folder, const EmbeddingRequest& request,
                             runtime::LoadWatch& watch) {
  PipelineFiles files = read_files(folder, request, watch);
  std::shared_ptr<Model::State> model = files.model;
  const std::shared_ptr<EmbeddingPipeline::State> state = load_part(std::move(files));
  add_others(*state, model->folder, request, watch);
  return {.pipeline = EmbeddingPipeline(state), .model = std::move(model)};
}

Selection check_embedding(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                          bool has_tokenizer) {
  runtime::LoadWatch unwatched;
  const auto check_part = [&](const EmbeddingRequest& part) {
    PipelineFiles files = read_files(folder, part, unwatched);
    if (has_tokenizer) files.tokenizer.get();
    const auto check = [&](const Model::State& on) {
      check_kinds(on, files.modules, files.kinds, EmbeddingKinds::only(files.kinds.main_kind()),
                  files.modules.normalizes());
    };
    files.model->bind_to_backend(check, {}, Model::State::Purpose::check);
    return files.model;
  };
  const std::shared_ptr<const Model::State> first = check_part(request);
  for (const EmbeddingRequest& other : other_requests(*first, request)) check_part(other);
  return first->facts.selection;
}

}  // namespace pipelines
}  // namespace alate
