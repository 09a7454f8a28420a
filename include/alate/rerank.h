// Reranking: how well texts answer a query, scored by a cross-encoder that reads each text with the query.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/long_texts.h"
#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"

namespace alate {

struct RerankOptions {
  bool raw_scores = false;  // the model's logits instead of their sigmoids, which are in 0…1
  // The scores of sentence-transformers' CrossEncoder: by the function that the folder names (activation_fn), else
  // sigmoids.
  bool model_scores = false;
  // What comes before the query: a prompt of config_sentence_transformers.json, by its name; empty: the default one, if
  // it names one. Or a text, instead.
  std::string prompt_name = {};
  std::optional<std::string> prompt = {};
  // Of the query and a text together, of which the longer one is cut first, unless the text is read in windows: the
  // query is read with each, and the best window is the text's score.
  LongTextOptions long_texts = {};
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer pair is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

/// Score i is that of text i, however the texts were batched; a higher score is a better text. Only models that read
/// lists (jina-reranker-v3) give a text scores that depend on the others.
struct RerankScores {
  std::vector<float> scores;
  // The model's own numbers, which tell texts apart whose scores are equal: sigmoids of logits over 17 are all 1.
  std::vector<float> raw_scores = {};
  std::vector<std::size_t> truncated;  // indices of the texts whose pair was cut, ascending
  std::size_t tokens = 0;              // computed tokens, including special tokens and the query of each pair

  /// The indices of the texts, the best first: alate::best_first of both.
  std::vector<std::size_t> best_first(std::optional<std::size_t> count = {}) const;
};

/// A tokenizer and a model that ranks: a cross-encoder, which is an encoder with a head for pairs of texts that has one
/// label, a language model that judges pairs or reads lists of texts, or one for late interaction (docs/rerank.md).
/// Immutable; thread-safe; copies share state.
class RerankPipeline {
 public:
  /// A folder whose config.json names a …ForSequenceClassification with one label. With dtype auto the model runs as
  /// stored. Throws as Model::load, and unsupported for models that are no such cross-encoder and for ONNX files.
  static RerankPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                             const RunControl& control = {});
  /// Over a model that is loaded already, whose folder has the tokenizer. Throws as `load`.
  static RerankPipeline over(const Model& model);

  /// Throws invalid_argument for options that the model cannot meet and for a text that is too long where that is an
  /// error, unsupported for model_scores by a function that is not known here, cancelled, deadline_exceeded. Query and
  /// texts may be empty; they must live until the call returns.
  RerankScores rerank(std::string_view query, std::span<const std::string> texts, const RerankOptions& options = {},
                      const RunControl& control = {}) const;
  RerankScores rerank(std::string_view query, std::span<const std::string_view> texts,
                      const RerankOptions& options = {}, const RunControl& control = {}) const;
  /// rerank("a query", {"a text", "another"})
  RerankScores rerank(std::string_view query, std::initializer_list<std::string_view> texts,
                      const RerankOptions& options = {}, const RunControl& control = {}) const {
    return rerank(query, std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }

  std::size_t max_length() const;  // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit RerankPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// The indices of the scores, the best first: all, or the first `count`. Equal scores are in the order of
/// `raw_scores`, which are as many or none, and keep their own where these are equal too. NaN comes last.
std::vector<std::size_t> best_first(std::span<const float> scores, std::optional<std::size_t> count = {},
                                    std::span<const float> raw_scores = {});

}  // namespace alate
