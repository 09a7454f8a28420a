#include "server/api/kserve/kserve_metadata.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "models/encoder.h"
#include "runtime/loading/loaded_model.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::Task;
using pipelines::TaskPipelines;

// -1 is any extent.
Json tensor(std::string_view name, std::string_view datatype, std::initializer_list<std::int64_t> shape) {
  return Json::Object{{"name", name}, {"datatype", datatype}, {"shape", Json::Array(shape.begin(), shape.end())}};
}

// Whether texts are read with labels that a request names: by GLiNER and GLiNER2.
bool reads_labels(const TaskPipelines& pipelines) {
  return models::find_word_head(pipelines.model().state().config) != nullptr;
}

}  // namespace

EmbeddingKinds usual_kinds(const TaskPipelines& pipelines) {
  const EmbeddingPipeline* embedding = pipelines.find_embedding();
  const bool is_sparse = embedding != nullptr && !embedding->kinds().dense && embedding->kinds().sparse;
  return EmbeddingKinds::only(is_sparse ? EmbeddingKind::sparse : EmbeddingKind::dense);
}

Task usual_task(const TaskPipelines& pipelines) {
  const Task main = pipelines.tasks().front();
  if (main != Task::embed) return main;
  // Vectors of tokens have no output of their own, but rank texts.
  const EmbeddingKinds kinds = pipelines.embedding().kinds();
  return kinds.dense || kinds.sparse ? Task::embed : Task::rerank;
}

TensorLists metadata_tensors(const TaskPipelines& pipelines) {
  Json::Array inputs = {tensor("text", "BYTES", {-1})}, outputs;
  switch (usual_task(pipelines)) {
    case Task::embed:
      if (usual_kinds(pipelines).dense) {
        outputs = {tensor(kSentenceEmbedding, "FP32", {-1, static_cast<std::int64_t>(pipelines.dimensions())})};
      } else {
        outputs = {tensor(kSparseEmbedding, "BYTES", {-1})};
      }
      break;
    case Task::rerank:
      inputs.push_back(tensor("query", "BYTES", {1}));
      outputs = {tensor("scores", "FP32", {-1})};
      break;
    case Task::classify: outputs = {tensor("labels", "BYTES", {-1, -1}), tensor("scores", "FP32", {-1, -1})}; break;
    case Task::recognize:
      if (reads_labels(pipelines)) inputs.push_back(tensor("labels", "BYTES", {-1}));
      outputs = {tensor("entities", "BYTES", {-1})};
      break;
    case Task::answer:
      inputs.push_back(tensor("question", "BYTES", {1}));
      outputs = {tensor("answers", "BYTES", {-1})};
      break;
    case Task::extract:
      inputs.push_back(tensor("schema", "BYTES", {1}));
      outputs = {tensor("results", "BYTES", {-1})};
      break;
    case Task::fill: break;  // is no model's main task
  }
  return {.inputs = std::move(inputs), .outputs = std::move(outputs)};
}

}  // namespace alate::server
