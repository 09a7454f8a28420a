// Classification of texts: by the labels that a model was trained on, or by labels that the caller gives.
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

/// The text of a label's hypothesis in transformers' zero-shot classification.
inline constexpr std::string_view kHypothesisTemplate = "This example is {}.";

struct ClassifyOptions {
  // Zero-shot classification: a model for natural language inference says of each label how far the text entails its
  // hypothesis. Empty: the model's own labels.
  std::vector<std::string> labels = {};
  std::string hypothesis_template = std::string(kHypothesisTemplate);  // {} stands for the label, {{ and }} for braces
  // Whether several labels may be true of a text. Each then has a score of its own; else the scores of a text add up to
  // 1. Absent: of own labels as config.json's problem_type says, of given ones false.
  std::optional<bool> multi_label = {};
  std::optional<std::size_t> top_k = {};  // only the best so many labels of each text
  bool raw_scores = false;                // the model's logits of its own labels
  // The scores of a text that is read in windows come from the mean of its windows' logits, each weighted by its
  // tokens. By default the end of a text is cut; a hypothesis never is.
  LongTextOptions long_texts = {};
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer row is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

struct LabelScore {
  std::string label;
  float score = 0;
};

/// Entry i is that of text i, however the texts were batched.
struct Classifications {
  std::vector<std::vector<LabelScore>> texts;  // of each text, the best label first
  std::vector<std::size_t> truncated;          // indices of the texts that were cut, ascending
  std::size_t tokens = 0;                      // computed tokens, special ones included
};

/// A tokenizer and an encoder with a head for classification. Immutable; thread-safe; copies share state.
class ClassifyPipeline {
 public:
  /// A folder whose config.json names a …ForSequenceClassification. Throws as Model::load, and unsupported for other
  /// models and for ONNX files.
  static ClassifyPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                               const RunControl& control = {});
  /// Over a model that is loaded already, whose folder has the tokenizer. Throws as `load`.
  static ClassifyPipeline over(const Model& model);

  /// As TextClassificationPipeline and ZeroShotClassificationPipeline of transformers. Throws invalid_argument for
  /// options that the model cannot meet and for a text that is too long where that is an error, cancelled,
  /// deadline_exceeded. The texts must live until the call returns.
  Classifications classify(std::span<const std::string_view> texts, const ClassifyOptions& options = {},
                           const RunControl& control = {}) const;
  Classifications classify(std::span<const std::string> texts, const ClassifyOptions& options = {},
                           const RunControl& control = {}) const;
  Classifications classify(std::initializer_list<std::string_view> texts, const ClassifyOptions& options = {},
                           const RunControl& control = {}) const {
    return classify(std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }

  /// The model's own labels, in the order of its logits.
  std::span<const std::string> labels() const;
  std::size_t max_length() const;  // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit ClassifyPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
