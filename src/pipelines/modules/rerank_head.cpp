#include "pipelines/modules/rerank_head.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/encoder.h"
#include "models/weights/weight_settings.h"
#include "models/weights/weights.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/modules/torch_activations.h"

namespace alate::pipelines {
namespace {

using graph::Builder;
using graph::Value;

/// The number of each pair, [sequences, 1].
using PairLogit = std::function<Value(Builder&, const models::EncoderInputs&, const models::BuiltEncoder&)>;

// Of logits [sequences, labels].
Value logit_of_labels(Builder& b, Value logits, const Model::State& model) {
  const std::int64_t labels = b.shape(logits).dims.at(1).number();
  if (labels == 1) return logits;
  if (labels != 2)
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' has ", labels,
                     " labels, and a reranker has one or two: ", class_of(model));
  return b.sub({graph::column(b, logits, 1), graph::column(b, logits, 0)});
}

// The logits of these tokens after the last token of each row.
Value logit_of_tokens(Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                      const Model::State& model, const ScoreTokens& tokens) {
  const Value last = b.ragged_pool({built.last_hidden_state, in.starts, in.lengths},
                                   {.mode = graph::PoolMode::last, .longest = in.longest});
  std::vector<std::int32_t> ids = {tokens.yes};
  if (tokens.no) ids.push_back(*tokens.no);
  b.set_source("lm_head");
  const std::shared_ptr<const formats::WeightSource> source = model.form->weights();
  // In a half type a table is read in place: only the rows taken are widened, exactly.
  models::Weights weights(*source, std::string(model.form->architecture()->prefix),
                          {.quantization = models::read_quantization(model.config), .dtype = ComputeType::bfloat16});
  const models::EncoderLimits& limits = model.limits();
  const auto count = static_cast<std::int64_t>(ids.size());
  const Value indices = b.constant(Tensor::from<std::int32_t>({count}, std::span<const std::int32_t>(ids)));
  const std::string table = weights.has("lm_head.weight") ? "lm_head.weight" : "embed_tokens.weight";
  const Value rows = weights.lookup(b, table, indices, limits.vocabulary, limits.hidden_size);
  const Value logits = b.dense({last, rows}, {});
  return tokens.no ? b.sub({graph::column(b, logits, 0), graph::column(b, logits, 1)}) : logits;
}

PairLogit pair_logit(const Model::State& model, const PairScorer& scorer) {
  return [&model, scorer](Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built) {
    if (scorer.tokens) return logit_of_tokens(b, in, built, model, *scorer.tokens);
    if (scorer.modules != nullptr) return logit_of_labels(b, score_value(b, in, built, *scorer.modules), model);
    return logit_of_labels(b, std::ranges::find(built.outputs, "logits", &models::EncoderOutput::name)->value, model);
  };
}

runtime::Head head_of(PairLogit logit, const std::string& activation) {
  return [logit = std::move(logit), activation](Builder& b, const models::EncoderInputs& in,
                                                const models::BuiltEncoder& built) {
    const Value number = logit(b, in, built);
    if (activation.empty()) return b.output("logits", number);
    b.output("scores", b.concatenate({torch_activation(b, activation, number), number}, {.axis = 1}));
  };
}

void require_known(const Model::State& model, std::string_view activation) {
  if (activation.empty() || (is_torch_activation(activation) && activation != "GLU")) return;
  throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder),
                   "' makes scores by an activation_fn that is not known here; ask for raw scores, or for those from 0 "
                   "to 1: ",
                   activation);
}

}  // namespace

runtime::Head rerank_head(const Model::State& model) { return head_of(pair_logit(model, {}), {}); }

runtime::Head rerank_head(const Model::State& model, const ScoreTokens& tokens) {
  return head_of(pair_logit(model, {.tokens = tokens}), {});
}

std::shared_ptr<const runtime::EntryPoint> rerank_entry_point(const Model::State& model, const PairScorer& scorer,
                                                              std::string_view activation) {
  require_known(model, activation);
  std::string name = "rerank";
  if (const std::optional<ScoreTokens>& tokens = scorer.tokens)
    name += " " + std::to_string(tokens->yes) + " " + (tokens->no ? std::to_string(*tokens->no) : "alone");
  if (!activation.empty()) name += " " + std::string(activation);
  const bool is_of_class = !scorer.tokens && scorer.modules == nullptr;
  return model.entry_point(name, head_of(pair_logit(model, scorer), std::string(activation)),
                           is_of_class ? models::HeadChoice::of_folder : models::HeadChoice::none);
}

}  // namespace alate::pipelines
