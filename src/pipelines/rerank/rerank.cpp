#include "alate/rerank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "graph/builder_functions.h"
#include "models/encoder.h"
#include "pipelines/rerank/rerank_rows.h"
#include "pipelines/task_head.h"
#include "runtime/run_rows.h"
#include "tokenizers/encode.h"

namespace alate {

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
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const auto computed = call.computed_of(texts.size());
    pipelines::PreparedRows prepared = pipelines::prepare_rerank(*this, query, texts, options, call.cancellation());
    return pipelines::rerank_prepared(*this, std::move(prepared), options, {.cancellation = call.cancellation()},
                                      computed);
  });
}

std::size_t RerankPipeline::max_length() const { return state_->max_length; }
const Tokenizer& RerankPipeline::tokenizer() const { return state_->tokenizer; }
const Model& RerankPipeline::model() const { return state_->model; }
const ModelFacts& RerankPipeline::facts() const { return state_->model.facts(); }

std::vector<std::size_t> best_first(std::span<const float> scores, std::optional<std::size_t> count) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_better = [&](std::size_t a, std::size_t b) {
    if (std::isnan(scores[a]) || std::isnan(scores[b])) return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return scores[a] > scores[b];
  };
  std::ranges::stable_sort(order, is_better);
  if (count) order.resize(std::min(order.size(), *count));
  return order;
}

namespace pipelines {

runtime::Head rerank_head(const Model::State& model) {
  return [&model](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
    const auto logits = std::ranges::find(built.outputs, "logits", &models::EncoderOutput::name);
    const std::int64_t labels = b.shape(logits->value).dims.at(1).number();  // [sequences, labels]
    if (labels == 1) return b.output("logits", logits->value);
    if (labels != 2)
      throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' has ", labels,
                       " labels, and a reranker has one or two: ", class_of(model));
    b.output("logits", b.sub({graph::column(b, logits->value, 1), graph::column(b, logits->value, 0)}));
  };
}

RerankPipeline reranker_of(TextModel model) {
  task_entry_point(model.model.state(), Task::rerank);
  return RerankPipeline(std::make_shared<RerankPipeline::State>(RerankPipeline::State{std::move(model)}));
}

RerankPipeline load_reranker(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control) {
  return RerankPipeline(std::make_shared<RerankPipeline::State>(
      RerankPipeline::State{load_text_model(folder, request, Task::rerank, control)}));
}

PreparedRows prepare_rerank(const RerankPipeline& pipeline, std::string_view query,
                            std::span<const std::string_view> texts, const RerankOptions& options,
                            const base::Cancellation& cancellation) {
  const RerankPipeline::State& state = pipeline.state();
  const Model::State& model = state.model.state();
  EncodeOptions encode;
  encode.max_length = row_limit(options.max_length, state.max_length, state.model.facts().max_positions);
  encode.side = options.truncation_side;
  encode.with_offsets = encode.with_tokens = false;
  const bool has_types = model.limits().types > 1;
  return prepare_rows(texts.size(), model.options.threads, cancellation, [&](std::size_t i) {
    Encoding pair = tokenizers::encode(state.tokenizer, {query, texts[i]}, encode, cancellation);
    PreparedRow made{.row = {.ids = std::move(pair.ids)}, .truncated = pair.truncated};
    // transformers' tokenizers give no types to models that have one.
    if (has_types) made.row.type_ids = std::move(pair.type_ids);
    return made;
  });
}

RerankScores rerank_prepared(const RerankPipeline& pipeline, PreparedRows prepared, const RerankOptions& options,
                             const backends::RunOptions& run, const std::function<void(std::size_t)>& computed) {
  const runtime::RowBudget budget{.tokens = options.batch_tokens, .rows = options.batch_size};
  Tensor values = runtime::run_rows(*task_entry_point(pipeline.state().model.state(), Task::rerank), prepared.rows,
                                    budget, run, computed)
                      .values;
  const std::span<float> logits = values.mutable_values<float>();
  finish_rerank(options, logits);
  return {.scores = {logits.begin(), logits.end()},
          .truncated = std::move(prepared.truncated),
          .tokens = prepared.tokens()};
}

void finish_rerank(const RerankOptions& options, std::span<float> logits) {
  if (options.raw_scores) return;
  for (float& value : logits) value = static_cast<float>(1 / (1 + std::exp(-double{value})));
}

}  // namespace pipelines
}  // namespace alate
