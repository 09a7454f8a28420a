#include "pipelines/rerank/pair_run.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "alate/error.h"
#include "pipelines/classify/score_function.h"
#include "pipelines/modules/rerank_head.h"
#include "pipelines/rerank/template_rows.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/letter_case.h"

namespace alate::pipelines {

PairRun::PairRun(RerankPipeline pipeline, std::string_view query, std::vector<std::string_view> texts,
                 RerankOptions options)
    : RerankRun(texts.size()),
      pipeline_(std::move(pipeline)),
      query_(query),
      texts_(std::move(texts)),
      options_(std::move(options)) {
  prompt_ = options_.prompt ? *options_.prompt : pipeline_.state().settings.prompts.prompt_named(options_.prompt_name);
  require_pooled_prompt();
  // A template has a place for it.
  if (!pipeline_.state().pair_template) query_ = std::exchange(prompt_, {}) + query_;
}

void PairRun::require_pooled_prompt() const {
  const auto excludes = [](const ChainModule& module) {
    const auto* pooling = std::get_if<PoolingModule>(&module.kind);
    return pooling != nullptr && !pooling->include_prompt;
  };
  const auto& modules = pipeline_.state().score_modules;
  if (prompt_.empty() || modules == nullptr || std::ranges::none_of(modules->chain, excludes)) return;
  throw Error(ErrorCode::unsupported,
              "the cross-encoder's Pooling module leaves out prompts, which is not built here; rerank without one: "
              "include_prompt");
}

// Whether the scores of the model are neither logits nor sigmoids.
bool PairRun::is_activated() const {
  const std::string& activation = pipeline_.state().settings.activation;
  return options_.model_scores && activation != "Identity" && activation != "Sigmoid";
}

std::shared_ptr<const runtime::BatchProgram> PairRun::program() const {
  const RerankPipeline::State& state = pipeline_.state();
  return rerank_entry_point(pipeline_.model().state(), state.scorer(),
                            is_activated() ? std::string_view(state.settings.activation) : std::string_view());
}

std::string PairRun::excess() const {
  return " has, with the query, more than the " + std::to_string(row_length(pipeline_.state(), options_.long_texts)) +
         " tokens that are read at once";
}

void PairRun::require_room_for_windows(const base::Cancellation& cancellation) const {
  const RerankPipeline::State& state = pipeline_.state();
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  const std::size_t own = tokenizers::encode(state.tokenizer, query_, alone, cancellation).ids.size();
  const std::size_t length = row_length(state, options_.long_texts);
  if (own + state.tokenizer.special_tokens_added(true) < length) return;
  throw make_error(ErrorCode::invalid_argument, "the query has ", own, " tokens, which leaves no room for texts in ",
                   "windows of ", length, "; shorten it, or let texts be cut");
}

void PairRun::require_room(std::size_t with_each) const {
  double bytes = 0;
  for (const std::string_view text : texts_) bytes += static_cast<double>(text.size());
  bytes += static_cast<double>(with_each) * static_cast<double>(std::max<std::size_t>(texts_.size(), 1));
  require_readable(limits(), bytes, "the query and its prompt");
}

TextRows PairRun::make_rows(const base::Cancellation& cancellation) {
  const RerankPipeline::State& state = pipeline_.state();
  require_room(query_.size() + prompt_.size());
  if (texts_.empty()) return {};
  if (state.pair_template) {
    const TemplatePairs pairs(*state.pair_template, query_, prompt_);
    require_room(pairs.bytes_around());
    return make_template_rows(state, pairs, std::exchange(texts_, {}), options_.long_texts, token_budget(),
                              cancellation);
  }
  RowOptions rows{.long_texts = options_.long_texts, .budget = &token_budget()};
  if (rows.treatment() == LongTexts::windows) {
    require_room_for_windows(cancellation);
    rows.strategy = Truncation::only_second;
  }
  std::vector<EncodeInput> pairs;
  std::vector<std::string> lower;
  if (state.score_modules != nullptr && state.score_modules->transformer.lower_case) {
    query_ = tokenizers::lower_cased(query_);
    lower.reserve(texts_.size());
    for (std::string_view& text : texts_) text = lower.emplace_back(tokenizers::lower_cased(text));
  }
  for (const std::string_view text : std::exchange(texts_, {})) pairs.emplace_back(query_, text);
  return make_text_rows(state, pairs, rows, cancellation);
}

void PairRun::take(const RowResults& results) {
  const bool is_logit =
      options_.raw_scores || (options_.model_scores && pipeline_.state().settings.activation == "Identity");
  const ScoreFunction function = is_logit || is_activated() ? ScoreFunction::none : ScoreFunction::sigmoid;
  clear_scores();
  for (std::size_t row = 0; row < results.count(); ++row) {
    // An activation's result comes first, and then what it was made of.
    float score = results.of(row).front();
    const float raw = results.of(row).back();
    scale_logits(function, {&score, 1});
    float &best = scores_[results.input(row)], &best_raw = raw_scores_[results.input(row)];
    if (!std::isnan(best) && (score < best || (score == best && raw <= best_raw))) continue;
    best = score;
    best_raw = raw;
  }
}

}  // namespace alate::pipelines
