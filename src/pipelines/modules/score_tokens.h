// Language models as rerankers: the score of a pair is how likely the next token says that the text answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "alate/tokenizer.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

/// The token whose logit is the score, and the one whose logit is subtracted from it, so that the score's sigmoid is
/// the probability of the first among both.
struct ScoreTokens {
  std::int32_t yes = 0;
  std::optional<std::int32_t> no;
};

/// Whether config.json names a …ForCausalLM.
bool is_language_model(const Model::State& model);

/// Whether modules.json ends in sentence-transformers' LogitScore, which makes scores of a language model's logits.
bool has_logit_score(const std::filesystem::path& home);

/// Those of the folder's LogitScore, else "yes" and "no". Throws corrupt for tokens that the model does not have,
/// unsupported for a tokenizer without the words.
ScoreTokens read_score_tokens(const Model::State& model, const Tokenizer& tokenizer);

}  // namespace alate::pipelines
