// What a request is for that names no model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "pipelines/tasks/tasks.h"

namespace alate::server {

/// The tasks that would do, the best first, and of `embed` the kind of embeddings; no tasks: any model would do.
struct ModelPurpose {
  std::vector<pipelines::Task> tasks = {};
  std::optional<EmbeddingKind> kind = std::nullopt;
  bool keeps_default = false;  // the default model, where there is one, also where it is for something else
};

/// The same text for the same purpose, without line breaks; empty for that of any model.
inline std::string spelling_of(const ModelPurpose& purpose) {
  std::string text;
  for (const pipelines::Task task : purpose.tasks)
    text += (text.empty() ? "" : ",") + std::string(pipelines::to_string(task));
  if (purpose.kind) text += ":" + std::string(to_string(*purpose.kind));
  if (purpose.keeps_default) text += "!";
  return text;
}

}  // namespace alate::server
