// A loaded model with the pipelines of the tasks that its folder says it is for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/generation.h"
#include "alate/rerank.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/load_request.h"

namespace alate::pipelines {

/// Whether the folder has the files of a tokenizer. Throws as runtime::find_model_files.
bool has_tokenizer(const std::filesystem::path& folder, const LoadOptions& options);

/// Immutable; thread-safe; copies share the model.
class TaskPipelines {
 public:
  /// Compiles the entry point of the main task only; those of the others are compiled at their first use. Throws as the
  /// load of the main task's pipeline. A model without a tokenizer is loaded for `forward` over token ids; of a bare
  /// language model (is_bare_language_model) the only task is to generate.
  static TaskPipelines load(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                            const RunControl& control = {});

  const std::vector<Task>& tasks() const { return tasks_; }
  /// Whether the model reads texts. Without a tokenizer all functions that return a pipeline, a text model or the
  /// tokenizer throw unsupported: "the model 'M' has no tokenizer: …".
  bool has_tokenizer() const { return !bare_model_; }
  /// Throws unsupported, saying what the model is for, where that is something else (require_embedder).
  const EmbeddingPipeline& embedding() const;
  /// For the tasks of the folder's head; they compile at their first use if they are not the main task.
  TextModel text_model() const;
  /// Throws unsupported as RerankPipeline::load.
  RerankPipeline reranker() const;

  const Model& model() const;
  const ModelFacts& facts() const { return model().facts(); }
  const Tokenizer& tokenizer() const;
  std::size_t max_length() const;
  /// Of the vectors; 0 if the model does not embed.
  std::size_t dimensions() const { return embedding_ ? embedding_->dimensions() : 0; }
  /// Null if the model does not embed.
  const EmbeddingPipeline* find_embedding() const { return embedding_ ? &*embedding_ : nullptr; }
  /// Throws unsupported, saying what the model is for, where that is something else.
  const TextGenerator& generator() const;
  /// Null if the model does not generate.
  const TextGenerator* find_generator() const { return generator_ ? &*generator_ : nullptr; }
  /// What texts have where a masked language model fills them; empty if the model does not.
  const std::string& mask() const { return mask_; }
  /// Bytes of the weights that the main task's entry point holds; 0 if its backend does not say.
  std::size_t weight_bytes() const;
  /// That the keys and values of a model that generates may take; 0 for others.
  std::size_t cache_bytes() const;
  /// Model::fingerprint, of all transformers.
  Fingerprint fingerprint() const;

 private:
  RerankPipeline made_reranker() const;
  void require_tokenizer() const;
  explicit TaskPipelines(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}

  std::vector<Task> tasks_;
  std::string mask_;
  std::optional<EmbeddingPipeline> embedding_;
  std::optional<TextModel> text_model_;     // of models that do not embed, or fill masks too
  std::optional<RerankPipeline> reranker_;  // of models that rerank
  std::optional<TextGenerator> generator_;  // of bare language models; the others are absent then
  std::optional<Model> bare_model_;         // without a tokenizer; the others are absent then
};

}  // namespace alate::pipelines
