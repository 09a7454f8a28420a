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

TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                          const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadWatch watch(call);
    const runtime::ModelFiles files = runtime::find_model_files(folder, request.options);
    runtime::require_weights(files, task_head(task).noun);
    std::future<Tokenizer> tokenizer = begin_loading_tokenizer(files.folder, request.options);
    const std::shared_ptr<Model::State> model = Model::State::read(folder, request, watch);
    require_task(*model, task);
    model->bind_to_backend([task](const Model::State& on) { task_entry_point(on, task); });
    const std::size_t positions = model->facts.max_positions;
    const std::size_t length = std::min(stated_max_length(files.folder).value_or(positions), positions);
    watch.finish();
    return TextModel{.model = Model(model), .tokenizer = tokenizer.get(), .max_length = length};
  });
}

}  // namespace alate::pipelines
