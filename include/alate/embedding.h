// Texts in, vectors out: sentence-transformers' pipeline.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/cancellation.h"
#include "alate/model.h"
#include "alate/tokenizer.h"

namespace alate {

struct EmbedOptions {
  std::optional<std::size_t> max_length;  // in tokens, with specials; absent: as the model states. Longer texts are cut
  std::size_t batch_tokens = 2048;        // most tokens of one batch; a longer text is a batch of its own
  std::size_t batch_size = 0;             // most texts of one batch; 0: no limit but batch_tokens
  std::optional<bool> normalize;          // absent: as the model's modules say
  std::optional<std::size_t>
      dimensions;  // keeps the first so many and, where the vectors were normalized, normalizes again
  std::optional<Side> truncation_side;  // the end that is cut off longer texts; absent: as the tokenizer's file says
  std::string prompt_name;  // a prompt of config_sentence_transformers.json; empty: the default one, if it names one
  std::optional<std::string> prompt;  // put before each text instead
};

/// Row i is the vector of text i, whatever the batches were.
struct Embeddings {
  Tensor vectors;                      // f32 [texts, dimensions]
  std::vector<std::size_t> truncated;  // indices of the texts that were cut, rising
  std::size_t tokens = 0;              // computed, specials included
};

/// Tokenizer, encoder and the modules behind it. Immutable; thread-safe; copies share it.
class EmbeddingPipeline {
 public:
  /// A folder of sentence-transformers (modules.json and what it names), or a plain encoder, whose tokens are then
  /// averaged. Throws as Model::load, and unsupported for a module it does not know.
  static EmbeddingPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {});

  /// Throws invalid_argument for options that the model cannot meet, cancelled. Texts may be empty.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options = {},
                   const CallOptions& call = {}) const;
  /// The same from token ids, specials included; nothing is cut: a row over the model's positions is invalid_argument.
  Embeddings embed_tokens(std::span<const std::vector<std::int32_t>> rows, const EmbedOptions& options = {},
                          const CallOptions& call = {}) const;

  std::size_t dimensions() const;
  std::size_t max_length() const;  // in tokens, with specials
  const Tokenizer& tokenizer() const;
  /// The encoder itself, without pooling and what follows it.
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit EmbeddingPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
