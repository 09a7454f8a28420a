#include "pipelines/calls/text_model.h"

#include <algorithm>
#include <future>
#include <memory>

#include "base/threads/controlled_call.h"
#include "pipelines/calls/tokenizer_loading.h"
#include "pipelines/modules/transformer_settings.h"
#include "pipelines/tasks/label_names.h"
#include "pipelines/tasks/task_head.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

namespace {

// Whether modules of a cross-encoder do the task.
bool does(const ScoreModules* modules, Task task) { return modules != nullptr && task == Task::classify; }

std::size_t usual_length(const std::filesystem::path& folder, const Model::State& model) {
  return usual_max_length(folder, model.facts.max_positions);
}

}  // namespace

TextModel text_model_of(const Model& model) {
  const Model::State& state = model.state();
  const runtime::ModelFiles files{.home = state.folder,
                                  .folder = runtime::transformer_folders(state.folder).front(),
                                  .onnx_file = {},
                                  .weights_file = state.weights_file};
  return {.model = model,
          .tokenizer = Tokenizer::load(files.tokenizer()),
          .max_length = usual_length(files.folder, state),
          .settings = read_tokenizer_settings(files.folder),
          .score_modules = read_score_modules(files),
          .files = files};
}

TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                          const TextModelUse& use, const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadWatch watch(call);
    const runtime::ModelFiles files = runtime::find_model_files(folder, request.options);
    runtime::require_weights(files, use.noun);
    const std::shared_future<Tokenizer> tokenizer = begin_loading_tokenizer(files.tokenizer(), request.options).share();
    const std::shared_ptr<Model::State> model = Model::State::read(folder, request, watch);
    const std::shared_ptr<const ScoreModules> modules = read_score_modules(files);
    use.require(*model, modules.get());
    model->bind_to_backend([&](const Model::State& on) { use.compile(on, tokenizer, modules); });
    watch.finish();
    return TextModel{.model = Model(model),
                     .tokenizer = tokenizer.get(),
                     .max_length = usual_length(files.folder, *model),
                     .settings = read_tokenizer_settings(files.folder),
                     .score_modules = modules,
                     .files = files};
  });
}

TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                          const RunControl& control) {
  const auto require = [task](const Model::State& model, const ScoreModules* modules) {
    if (!does(modules, task)) require_task(model, task);
    if (task == Task::classify || task == Task::recognize) warn_of_differing_labels(model.config);
  };
  const auto compile = [task](const Model::State& on, const std::shared_future<Tokenizer>&,
                              const std::shared_ptr<const ScoreModules>& modules) {
    does(modules.get(), task) ? static_cast<void>(score_entry_point(on, modules)) : compile_task(on, task);
  };
  return load_text_model(folder, request, {.noun = task_head(task).noun, .require = require, .compile = compile},
                         control);
}

std::shared_ptr<const runtime::EntryPoint> task_entry_point(const TextModel& model, Task task) {
  const Model::State& state = model.model.state();
  return does(model.score_modules.get(), task) ? score_entry_point(state, model.score_modules)
                                               : task_entry_point(state, task);
}

}  // namespace alate::pipelines
