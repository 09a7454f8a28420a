// From the logits of a model that reads pairs to the one number of a pair.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "pipelines/modules/score_modules.h"
#include "pipelines/modules/score_tokens.h"
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

/// What makes a pair's number; neither: a head of the folder's class.
struct PairScorer {
  std::optional<ScoreTokens> tokens = {};                 // of language models
  std::shared_ptr<const ScoreModules> modules = nullptr;  // of cross-encoders made of modules
};

/// The entry point of one of these heads, compiled at its first use. `activation` is
/// a class of torch.nn that the number goes through, and the output is then "scores" [sequences, 2], its result before
/// the number; empty: none. Throws unsupported for a class that is not known here.
std::shared_ptr<const runtime::EntryPoint> rerank_entry_point(const Model::State& model, const PairScorer& scorer,
                                                              std::string_view activation = {});

}  // namespace alate::pipelines
