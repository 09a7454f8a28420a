#include "pipelines/text_model.h"

#include <algorithm>
#include <future>
#include <memory>

#include "base/threads/controlled_call.h"
#include "pipelines/embed/transformer_settings.h"
#include "pipelines/task_head.h"
#include "pipelines/tokenizer_loading.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

namespace {

std::size_t usual_length(const std::filesystem::path& folder, const Model::State& model) {
  return usual_max_length(folder, model.facts.max_positions);
}

}  // namespace

TextModel text_model_of(const Model& model) {
  const Model::State& state = model.state();
  return {.model = model,
          .tokenizer = Tokenizer::load(state.folder),
          .max_length = usual_length(state.folder, state),
          .settings = read_tokenizer_settings(state.folder)};
}

TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                          const TextModelUse& use, const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadWatch watch(call);
    const runtime::ModelFiles files = runtime::find_model_files(folder, request.options);
    runtime::require_weights(files, use.noun);
    const std::shared_future<Tokenizer> tokenizer = begin_loading_tokenizer(files.folder, request.options).share();
    const std::shared_ptr<Model::State> model = Model::State::read(folder, request, watch);
    use.require(*model);
    model->bind_to_backend([&](const Model::State& on) { use.compile(on, tokenizer); });
    watch.finish();
    return TextModel{.model = Model(model),
                     .tokenizer = tokenizer.get(),
                     .max_length = usual_length(files.folder, *model),
                     .settings = read_tokenizer_settings(files.folder)};
  });
}

TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                          const RunControl& control) {
  return load_text_model(
      folder, request,
      {.noun = task_head(task).noun,
       .require = [task](const Model::State& model) { require_task(model, task); },
       .compile = [task](const Model::State& on, const std::shared_future<Tokenizer>&) { compile_task(on, task); }},
      control);
}

}  // namespace alate::pipelines
