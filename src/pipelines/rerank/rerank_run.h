// The stages of RerankPipeline::rerank (pipelines/calls/task_run.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/rerank.h"
#include "pipelines/calls/task_run.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/modules/rerank_head.h"
#include "pipelines/modules/score_tokens.h"
#include "pipelines/rerank/list_program.h"
#include "pipelines/rerank/pair_template.h"
#include "pipelines/rerank/rerank_settings.h"
#include "runtime/loading/load_request.h"

namespace alate {

struct RerankPipeline::State : pipelines::TextModel {
  pipelines::RerankSettings settings;
  std::optional<pipelines::PairTemplate> pair_template = {};  // absent: the tokenizer puts pairs together
  std::optional<pipelines::ScoreTokens> tokens = {};          // of language models
  std::optional<pipelines::ListTokens> list_tokens = {};      // of models that read many texts at once
  std::optional<EmbeddingPipeline> embedding = {};  // of models for late interaction; the settings are then not used

  pipelines::PairScorer scorer() const { return {.tokens = tokens, .modules = score_modules}; }
};

}  // namespace alate

namespace alate::pipelines {

/// The reranker of a loaded model; compiles nothing. Throws unsupported as RerankPipeline::load.
RerankPipeline reranker_of(TextModel model);
/// The same of a model that embeds: by late interaction. Throws unsupported for one without vectors of tokens.
RerankPipeline reranker_of(const EmbeddingPipeline& embedding);

/// RerankPipeline::load.
RerankPipeline load_reranker(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control = {});

/// Goes as far as load_reranker does for a cross-encoder or a language model before anything is compiled, on the
/// model's backend.
void check_reranker(const Model::State& model, const Tokenizer& tokenizer);
/// Throws unsupported for a model that is neither. `modules` are read_score_modules.
void require_reranker(const Model::State& model, const ScoreModules* modules);

/// One call: a query and its texts.
class RerankRun : public TaskRun {
 public:
  std::size_t size() const final { return count_; }
  /// Of each text; NaN for those that are too long. After `finish`.
  const std::vector<float>& scores() const { return scores_; }
  /// RerankScores::raw_scores. After `finish`.
  const std::vector<float>& raw_scores() const { return raw_scores_; }

 protected:
  explicit RerankRun(std::size_t count) : count_(count) {}
  /// Of no text yet.
  void clear_scores();

  std::vector<float> scores_, raw_scores_;

 private:
  std::size_t count_;
};

/// The texts must live until `prepare` returns. Throws invalid_argument for contradictory options and an unknown
/// prompt, unsupported for a treatment of long texts that the model has not.
std::unique_ptr<RerankRun> begin_rerank(const RerankPipeline& pipeline, std::string_view query,
                                        std::vector<std::string_view> texts, const RerankOptions& options);

}  // namespace alate::pipelines
