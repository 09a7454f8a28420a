#include "alate/rerank.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/kind_rows.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/modules/rerank_head.h"
#include "pipelines/rerank/late_interaction_run.h"
#include "pipelines/rerank/list_run.h"
#include "pipelines/rerank/pair_run.h"
#include "pipelines/rerank/rerank_run.h"
#include "pipelines/tasks/task_head.h"
#include "pipelines/tasks/tasks.h"

namespace alate {

RerankPipeline RerankPipeline::over(const Model& model) {
  return pipelines::reranker_of(pipelines::text_model_of(model));
}

RerankPipeline RerankPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                    const RunControl& control) {
  return pipelines::load_reranker(folder, options, control);
}

RerankScores RerankPipeline::rerank(std::string_view query, std::span<const std::string> texts,
                                    const RerankOptions& options, const RunControl& control) const {
  return rerank(query, std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

RerankScores RerankPipeline::rerank(std::string_view query, std::span<const std::string_view> texts,
                                    const RerankOptions& options, const RunControl& control) const {
  const std::unique_ptr<pipelines::RerankRun> run =
      pipelines::begin_rerank(*this, query, {texts.begin(), texts.end()}, options);
  pipelines::run_task(*run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {
      .scores = run->scores(), .raw_scores = run->raw_scores(), .truncated = run->truncated(), .tokens = run->tokens()};
}

std::size_t RerankPipeline::max_length() const { return state_->max_length; }
const Tokenizer& RerankPipeline::tokenizer() const { return state_->tokenizer; }
const Model& RerankPipeline::model() const { return state_->model; }
const ModelFacts& RerankPipeline::facts() const { return state_->model.facts(); }

std::vector<std::size_t> best_first(std::span<const float> scores, std::optional<std::size_t> count,
                                    std::span<const float> raw_scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_better = [&](std::size_t a, std::size_t b) {
    if (std::isnan(scores[a]) || std::isnan(scores[b])) return !std::isnan(scores[a]) && std::isnan(scores[b]);
    if (scores[a] != scores[b] || raw_scores.empty()) return scores[a] > scores[b];
    return raw_scores[a] > raw_scores[b];
  };
  std::ranges::stable_sort(order, is_better);
  if (count) order.resize(std::min(order.size(), *count));
  return order;
}

std::vector<std::size_t> RerankScores::best_first(std::optional<std::size_t> count) const {
  return alate::best_first(scores, count, raw_scores);
}

namespace pipelines {
namespace {

// Whether it is a language model that judges by its next token.
bool judges(const Model::State& model, const ScoreModules* modules) {
  return modules == nullptr && is_language_model(model);
}

std::optional<PairTemplate> template_of(const Model::State& model, bool judges) {
  if (ranks_lists(model)) return std::nullopt;
  std::optional<PairTemplate> own = PairTemplate::of_folder(model.folder);
  if (own || !judges) return own;
  if (class_of(model).starts_with("Qwen3")) return PairTemplate::qwen3();
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder),
                   "' is a language model, and its chat template does not write messages of the roles query and "
                   "document; a chat_template.jinja in its folder could: ",
                   class_of(model));
}

RerankPipeline made_of(TextModel model) {
  const Model::State& state = model.model.state();
  RerankSettings settings = read_rerank_settings(state);
  const bool is_judge = judges(state, model.score_modules.get());
  std::optional<PairTemplate> pair_template = template_of(state, is_judge);
  std::optional<ScoreTokens> tokens;
  if (is_judge) tokens = read_score_tokens(state, model.tokenizer);
  std::optional<ListTokens> list_tokens;
  if (ranks_lists(state)) list_tokens = read_list_tokens(state, model.tokenizer);
  return RerankPipeline(std::make_shared<RerankPipeline::State>(
      RerankPipeline::State{std::move(model), std::move(settings), std::move(pair_template), tokens, list_tokens}));
}

}  // namespace

void require_reranker(const Model::State& model, const ScoreModules* modules) {
  if (ranks_lists(model) || modules != nullptr) return;
  const bool may_judge =
      is_language_model(model) && (is_marked_reranker(model.folder) || !base::is_there(model.folder / "modules.json"));
  if (!may_judge) require_task(model, Task::rerank);
}

void check_reranker(const Model::State& model, const Tokenizer& tokenizer) {
  if (ranks_lists(model)) {
    read_list_tokens(model, tokenizer);
    return model.check(list_head(), models::HeadChoice::of_folder);
  }
  if (!is_language_model(model)) return check_task(model, Task::rerank);
  model.check(rerank_head(model, read_score_tokens(model, tokenizer)), models::HeadChoice::none);
}

RerankPipeline reranker_of(TextModel model) {
  require_reranker(model.model.state(), model.score_modules.get());
  return made_of(std::move(model));
}

RerankPipeline reranker_of(const EmbeddingPipeline& embedding) {
  require_kinds(embedding, EmbeddingKinds::only(EmbeddingKind::multi_vector));
  TextModel model{.model = embedding.model(), .tokenizer = embedding.tokenizer(), .max_length = embedding.max_length()};
  return RerankPipeline(std::make_shared<RerankPipeline::State>(
      RerankPipeline::State{std::move(model), RerankSettings(), {}, {}, {}, embedding}));
}

RerankPipeline load_reranker(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control) {
  if (gives_token_vectors(folder, request.options)) return reranker_of(load_embedding(folder, request, control));
  return made_of(load_text_model(folder, request,
                                 {.noun = task_head(Task::rerank).noun,
                                  .require = require_reranker,
                                  .compile =
                                      [](const Model::State& on, const std::shared_future<Tokenizer>& tokenizer,
                                         const std::shared_ptr<const ScoreModules>& modules) {
                                        if (ranks_lists(on)) {
                                          list_entry_point(on);
                                          return;
                                        }
                                        PairScorer scorer{.tokens = {}, .modules = modules};
                                        if (judges(on, modules.get()))
                                          scorer.tokens = read_score_tokens(on, tokenizer.get());
                                        rerank_entry_point(on, scorer);
                                      }},
                                 control));
}

void RerankRun::clear_scores() {
  scores_.assign(count_, std::numeric_limits<float>::quiet_NaN());
  raw_scores_ = scores_;
}

std::unique_ptr<RerankRun> begin_rerank(const RerankPipeline& pipeline, std::string_view query,
                                        std::vector<std::string_view> texts, const RerankOptions& options) {
  if (options.raw_scores && options.model_scores)
    throw Error(ErrorCode::invalid_argument, "scores are either the raw ones or those of the model: ask for one");
  if (pipeline.state().embedding)
    return std::make_unique<LateInteractionRun>(pipeline, query, std::move(texts), options);
  if (pipeline.state().list_tokens) return std::make_unique<ListRun>(pipeline, query, std::move(texts), options);
  return std::make_unique<PairRun>(pipeline, query, std::move(texts), options);
}

}  // namespace pipelines
}  // namespace alate
