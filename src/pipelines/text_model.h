// What the pipelines of all tasks over texts share: a loaded model with its tokenizer.
#pragma once

#include <cstddef>
#include <filesystem>

#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"
#include "pipelines/tasks.h"
#include "runtime/loading/load_request.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// Immutable; copies share state.
struct TextModel {
  Model model;
  Tokenizer tokenizer;
  std::size_t max_length = 0;  // of a row, in tokens
};

/// Loads the model for a task that a head of its folder's computes (task_head.h). Throws as Model::load, and
/// unsupported for models of another head and for ONNX files.
TextModel load_text_model(const std::filesystem::path& folder, const runtime::LoadRequest& request, Task task,
                          const RunControl& control);

}  // namespace alate::pipelines
