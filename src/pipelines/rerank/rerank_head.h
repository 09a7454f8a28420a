// From the logits of a model that reads pairs to the one number of a pair.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "pipelines/rerank/score_tokens.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {

/// The output "logits": of a model with one label its logit; of one with two, how far the second's is above the
/// first's, whose sigmoid is the second's probability. Throws unsupported for more. Refers to `model`.
runtime::Head rerank_head(const Model::State& model);
/// The same of a language model: only the rows of these tokens are read of the table that gives its logits, for the
/// last token of each row.
runtime::Head rerank_head(const Model::State& model, const ScoreTokens& tokens);

/// The entry point of one of these, compiled at its first use; `tokens` are those of a language model. `activation` is
/// a class of torch.nn that the number goes through; empty: none. Throws unsupported for a class that is not known
/// here.
std::shared_ptr<const runtime::EntryPoint> rerank_entry_point(const Model::State& model,
                                                              const std::optional<ScoreTokens>& tokens,
                                                              std::string_view activation = {});

}  // namespace alate::pipelines
