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

#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"

namespace alate {

struct RerankOptions {
  // In tokens of the query and a text together, special ones included; the longer of the two is cut first. Absent: as
  // the model states.
  std::optional<std::size_t> max_length = {};
  bool raw_scores = false;                   // the model's logits instead of their sigmoids, which are in 0…1
  std::size_t batch_tokens = 2048;           // maximum tokens per batch; a longer pair is a batch of its own
  std::size_t batch_size = 0;                // maximum texts per batch; 0: limited only by batch_tokens
  std::optional<Side> truncation_side = {};  // the side that truncation removes; absent: as the tokenizer's file says
};

/// Score i is that of text i, however the texts were batched; a higher score is a better text.
struct RerankScores {
  std::vector<float> scores;
  std::vector<std::size_t> truncated;  // indices of the texts whose pair was cut, ascending
  std::size_t tokens = 0;              // computed tokens, including special tokens and the query of each pair
};

/// A tokenizer and a cross-encoder: an encoder with a head for pairs of texts that has one label. Immutable;
/// thread-safe; copies share state.
class RerankPipeline {
 public:
  /// A folder whose config.json names a …ForSequenceClassification with one label. With dtype auto the model runs as
  /// stored. Throws as Model::load, and unsupported for models that are no such cross-encoder and for ONNX files.
  static RerankPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                             const RunControl& control = {});

  /// Throws invalid_argument for options that the model cannot meet, cancelled, deadline_exceeded. Query and texts may
  /// be empty; they must live until the call returns.
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

/// The indices of the scores, the best first: all, or the first `count`. Equal scores keep their order, and NaN comes
/// last.
std::vector<std::size_t> best_first(std::span<const float> scores, std::optional<std::size_t> count = {});

}  // namespace alate
