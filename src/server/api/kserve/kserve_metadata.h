// What a KServe request does that names no task, and the metadata that describes it.
#pragma once

#include <string_view>

#include "alate/embedding_kinds.h"
#include "formats/json.h"
#include "pipelines/task_pipelines.h"

namespace alate::server {

/// Outputs of embeddings.
inline constexpr std::string_view kSentenceEmbedding = "sentence_embedding", kSparseEmbedding = "sparse_embedding";

/// What texts go through where a request names no task: the model's main task that this protocol has outputs for.
pipelines::Task usual_task(const pipelines::TaskPipelines& pipelines);

/// The kind of embeddings where a request names no outputs: dense, or sparse of a model that gives no dense ones.
EmbeddingKinds usual_kinds(const pipelines::TaskPipelines& pipelines);

struct TensorLists {
  formats::Json::Array inputs, outputs;
};

/// The tensors of a model's metadata. A request with all of these inputs gives all of these outputs: clients fill what
/// is listed. What else a model takes excludes one of them, or asks for a task by name.
TensorLists metadata_tensors(const pipelines::TaskPipelines& pipelines);

}  // namespace alate::server
