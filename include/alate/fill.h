// Masked language models: the tokens that fit in the places of masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
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

struct FillOptions {
  std::size_t top_k = 5;  // tokens for each mask, the best ones, up to 1000
  // Only these tokens are scored, each a token of the vocabulary as it is spelled there ("Ġblue"), else the first token
  // of the text; the same token counts once. Empty: all.
  std::vector<std::string> targets = {};
  LongTextOptions long_texts = {};  // the end of a text is cut by default; windows are not possible
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer row is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

/// A token in the place of a mask.
struct Fill {
  std::int32_t id = 0;
  std::string token;  // decoded: " blue"
  float score = 0;    // its probability among all tokens of the vocabulary
  std::string text;   // the text with the token in this mask's place, decoded; other masks stay in it
};

/// Entry i is that of text i, however the texts were batched.
struct Fills {
  std::vector<std::vector<std::vector<Fill>>> texts;  // of each text and mask, the best first
  std::vector<std::size_t> truncated;                 // indices of the texts that were cut, ascending
  std::size_t tokens = 0;                             // computed tokens, special ones included
};

/// A tokenizer and an encoder with a head over the vocabulary. Immutable; thread-safe; copies share state.
class FillPipeline {
 public:
  /// A folder whose config.json names a …ForMaskedLM. Throws as Model::load, and unsupported for other models, for
  /// tokenizers without a mask and for ONNX files.
  static FillPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                           const RunControl& control = {});

  /// As FillMaskPipeline of transformers; a text without masks has an empty list. Throws invalid_argument for options
  /// that the model cannot meet, for a text that is too long where that is an error, and for more than 1 GiB of filled
  /// texts; cancelled, deadline_exceeded. The texts must live until the call returns.
  Fills fill(std::span<const std::string_view> texts, const FillOptions& options = {},
             const RunControl& control = {}) const;
  Fills fill(std::span<const std::string> texts, const FillOptions& options = {}, const RunControl& control = {}) const;
  Fills fill(std::initializer_list<std::string_view> texts, const FillOptions& options = {},
             const RunControl& control = {}) const {
    return fill(std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }

  const std::string& mask() const;  // the token that texts have in the places to be filled: "[MASK]"
  std::size_t max_length() const;   // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit FillPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
