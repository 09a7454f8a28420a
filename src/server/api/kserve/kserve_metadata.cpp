#include "server/api/kserve/kserve_metadata.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "models/encoder.h"
#include "runtime/forward.h"
#include "runtime/loading/loaded_model.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::Task;
using pipelines::TaskPipelines;

// -1 is any extent.
Json tensor(std::string_view name, std::string_view datatype, const std::vector<std::int64_t>& shape) {
  return Json::Object{{"name", name}, {"datatype", datatype}, {"shape", Json::Array(shape.begin(), shape.end())}};
}

// Whether texts are read with labels that a request names: by GLiNER and GLiNER2.
bool reads_labels(const TaskPipelines& pipelines) {
  return models::find_word_head(pipelines.model().state().config) != nullptr;
}

// Rows of token ids through the encoder. Positions are left out: those that a client makes up are seldom right, and all
// models count them by themselves.
TensorLists forward_tensors(const Model::State& model) {
  Json::Array inputs, outputs;
  for (const std::string& name : runtime::forward_inputs(model)) {
    const bool is_needless = name == "position_ids" || (name == "token_type_ids" && model.limits().types <= 1);
    if (!is_needless) inputs.push_back(tensor(name, "INT64", {-1, -1}));
  }
  for (const runtime::ForwardOutput& output : runtime::forward_outputs(model)) {
    std::vector<std::int64_t> shape = {-1};
    if (output.is_per_token) shape.push_back(-1);
    shape.insert(shape.end(), output.extents.begin(), output.extents.end());
    outputs.push_back(tensor(output.name, "FP32", shape));
  }
  return {.inputs = std::move(inputs), .outputs = std::move(outputs)};
}

}  // namespace

EmbeddingKinds usual_kinds(const TaskPipelines& pipelines) {
  const EmbeddingPipeline* embedding = pipelines.find_embedding();
  const bool is_sparse = embedding != nullptr && !embedding->kinds().dense && embedding->kinds().sparse;
  return EmbeddingKinds::only(is_sparse ? EmbeddingKind::sparse : EmbeddingKind::dense);
}

Task usual_task(const TaskPipelines& pipelines) {
  const Task main = pipelines.tasks().front();
  if (main != Task::embed || !pipelines.has_tokenizer()) return main;
  // Vectors of tokens have no output of their own, but rank texts.
  const EmbeddingKinds kinds = pipelines.embedding().kinds();
  return kinds.dense || kinds.sparse ? Task::embed : Task::rerank;
}

TensorLists metadata_tensors(const TaskPipelines& pipelines) {
  const bool reads_texts = pipelines.has_tokenizer() && pipelines.find_generator() == nullptr;
  if (!reads_texts) return forward_tensors(pipelines.model().state());
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
    case Task::fill:
    case Task::generate: break;  // is no main task of a model that reads texts here
  }
  return {.inputs = std::move(inputs), .outputs = std::move(outputs)};
}

}  // namespace alate::server
