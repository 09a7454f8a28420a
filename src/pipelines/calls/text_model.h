// What the pipelines of all tasks over texts share: a loaded model with its tokenizer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string_view>

#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"
#include "pipelines/calls/special_tokens.h"
#include "pipelines/modules/score_modules.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/load_request.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

/// Immutable; copies share state.
struct TextModel {
  Model model;
  Tokenizer tokenizer;
  std::size_t max_length = 0;  // of a row, in tokens
  std::shared_ptr<const TokenizerSettings> settings = std::make_shared<const TokenizerSettings>();  // of its folder
  std::shared_ptr<const ScoreModules> score_modules = nullptr;  // read_score_modules; absent of models that embed
  runtime::ModelFiles files = {};
};

/// What a load is for.
struct TextModelUse {
  std::string_view noun;  // "a reranker"
  /// Throws unsupported for a model of another kind. `modules` are read_score_modules.
  std::function<void(const Model::State& model, const ScoreModules* modules)> require;
  /// Compiles what is needed first, on the model's backend; the tokenizer may still be loaded meanwhile.
  std::function<void(const Model::State& model, const std::shared_future<Tokenizer>& tokenizer,
                     const std::shared_ptr<const ScoreModules>& modules)>
      compile;
};
/// Throws as Model::load, as `require`, and unsupported for ONNX files.
TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                          const TextModelUse& use, const RunControl& control);
/// Loads the model for a task that a head of its folder's computes (task_head.h). Throws as Model::load, and
/// unsupported for models of another head and for ONNX files.
TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                          const RunControl& control);

/// task_entry_point, or that of the model's score_modules. Throws as they.
std::shared_ptr<const runtime::EntryPoint> task_entry_point(const TextModel& model, Task task);

/// A loaded model with the tokenizer of its folder. Throws as Tokenizer::load.
TextModel text_model_of(const Model& model);

}  // namespace alate::pipelines
