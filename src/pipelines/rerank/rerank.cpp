#include "alate/rerank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <numeric>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/modules.h"
#include "pipelines/rerank/rerank_rows.h"
#include "pipelines/tokenizer_loading.h"
#include "runtime/run_rows.h"
#include "tokenizers/encode.h"

namespace alate {
namespace pipelines {
namespace {

// Refers to `model`.
runtime::Head rerank_head(const Model::State& model) {
  return [&model](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
    const auto logits = std::ranges::find(built.outputs, "logits", &models::EncoderOutput::name);
    const std::int64_t labels = b.shape(logits->value).dims.at(1).number();  // [sequences, labels]
    if (labels != 1)
      throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' has ", labels,
                       " labels, and a reranker has one: ", class_of(model));
    b.output("logits", logits->value);
  };
}

}  // namespace

std::string class_of(const Model::State& model) {
  const models::Architecture* known = model.form->architecture();
  return known == nullptr ? model.form->architecture_name()
                          : std::string(known->class_name) + std::string(models::find_head(*known, model.config).name);
}

void require_cross_encoder(const Model::State& model) {
  const models::Architecture* known = model.form->architecture();
  const std::string name = class_of(model);
  if (known == nullptr || !name.ends_with(kCrossEncoderHead))
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' is no reranker: ",
                     known == nullptr ? "it is executed as it is, and only a folder with weights can be one so far"
                                      : "its config.json must name a class " + std::string(known->class_name) +
                                            std::string(kCrossEncoderHead) + " with one label",
                     "; use a cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2: ", name);
}

void check_rerank(const Model::State& model) {
  require_cross_encoder(model);
  model.check(rerank_head(model), models::HeadChoice::of_folder);
}

}  // namespace pipelines

namespace {

std::shared_ptr<const runtime::EntryPoint> rerank_entry_point(const Model::State& model) {
  pipelines::require_cross_encoder(model);
  return model.entry_point("rerank", pipelines::rerank_head(model), models::HeadChoice::of_folder);
}

}  // namespace

std::shared_ptr<const runtime::EntryPoint> RerankPipeline::State::entry_point() const {
  return rerank_entry_point(model.state());
}

RerankPipeline RerankPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                    const RunControl& control) {
  return pipelines::load_reranker(folder, options, control);
}

RerankPipeline pipelines::load_reranker(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                        const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    runtime::LoadWatch watch(call);
    const runtime::ModelFiles files = runtime::find_model_files(folder, request.options);
    runtime::require_weights(files, "a reranker");
    std::future<Tokenizer> tokenizer = begin_loading_tokenizer(files.folder, request.options);
    const std::shared_ptr<Model::State> model = Model::State::read(folder, request, watch);
    require_cross_encoder(*model);
    model->bind_to_backend([](const Model::State& on) { rerank_entry_point(on); });
    const std::size_t positions = model->facts.max_positions;
    const std::size_t length = std::min(stated_max_length(files.folder).value_or(positions), positions);
    watch.finish();
    return RerankPipeline(std::make_shared<RerankPipeline::State>(
        RerankPipeline::State{.model = Model(model), .tokenizer = tokenizer.get(), .max_length = length}));
  });
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

RerankPipeline reranker_of(const EmbeddingPipeline& pipeline) {
  rerank_entry_point(pipeline.model().state());
  return RerankPipeline(std::make_shared<RerankPipeline::State>(RerankPipeline::State{
      .model = pipeline.model(), .tokenizer = pipeline.tokenizer(), .max_length = pipeline.max_length()}));
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
  Tensor values = runtime::run_rows(*pipeline.state().entry_point(), prepared.rows, budget, run, computed).values;
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
