// Recognition: the places in texts that a model labels, such as names, addresses and organizations; by labels that it
// was trained with, or by any that are asked for (GLiNER).
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

/// How labels of tokens become entities, as `aggregation_strategy` of transformers' TokenClassificationPipeline.
enum class Aggregation {
  none,     // an entity for each token, whose label keeps its B- or I-
  simple,   // neighbouring tokens with the same label are one entity
  first,    // as simple, over words, each with the label of its first token
  average,  // over words, each with the label whose mean score is best
  max       // over words, each with the label of its best token
};
std::string_view to_string(Aggregation aggregation);
/// The inverse of `to_string`; nothing for an unknown name.
std::optional<Aggregation> parse_aggregation(std::string_view name);

/// A labelled place in a text.
struct Entity {
  std::string text;                          // from the original text, after invalid UTF-8 has become U+FFFD
  std::string label;                         // without B- and I-, but with Aggregation::none
  std::size_t start = 0, end = 0;            // code points of the text
  std::size_t byte_start = 0, byte_end = 0;  // bytes of it
  float score = 0;                           // 0 … 1: the mean of the tokens' or words'; GLiNER's own
  std::string word;                          // its tokens, decoded: `word` of transformers; GLiNER's: `text`
  std::optional<std::size_t> token = {};     // with Aggregation::none: its place among the row's tokens
};

/// The least score of GLiNER models.
inline constexpr float kUsualThreshold = 0.5F;

struct RecognizeOptions {
  // Of models that classify tokens. Absent: what the model's folder states (usual_aggregation), else simple.
  std::optional<Aggregation> aggregation = {};
  // Of models that classify tokens: only entities with these, with or without B- and I-; empty: all but "O". Of GLiNER
  // models: what is looked for, a word or phrase each; there must be one.
  std::vector<std::string> labels = {};
  // Only entities with a higher score, 0 … 1. Absent: all of models that classify tokens; kUsualThreshold.
  std::optional<float> threshold = {};
  // Of GLiNER models, where entities share words: the one with the best score stays, and besides it
  bool nested = false;       // those within it or around it
  bool multi_label = false;  // those at the same place with other labels
  // By default a text is read in windows, so that nothing is skipped. Of entities in two windows that share characters
  // the longer one stays, of the same length the one with the better score; GLiNER's are as if in one row.
  LongTextOptions long_texts = {};
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer row is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

/// Entry i is that of text i, however the texts were batched.
struct Recognitions {
  std::vector<std::vector<Entity>> texts;  // of each text, in its order
  std::vector<std::size_t> truncated;      // indices of the texts that were cut, ascending
  std::size_t tokens = 0;                  // computed tokens, special ones included
};

/// A tokenizer and an encoder with a head for the classification of tokens, or a GLiNER or GLiNER2 model, whose options
/// are those of GLiNER models. Immutable; thread-safe;
/// copies share state.
class RecognizePipeline {
 public:
  /// A folder whose config.json names a …ForTokenClassification or has the model_type "extractor", or with a
  /// gliner_config.json. Throws as Model::load,
  /// and unsupported for other models and for ONNX files.
  static RecognizePipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                                const RunControl& control = {});
  /// Over a model that is loaded already, whose folder has the tokenizer. Throws as `load`.
  static RecognizePipeline over(const Model& model);

  /// As TokenClassificationPipeline of transformers, or as GLiNER.inference of the package gliner. Throws
  /// invalid_argument for options that the model cannot meet, for labels that it does not have and for a text that is
  /// too long where that is an error; resource_exhausted for a threshold that leaves too much; cancelled,
  /// deadline_exceeded. The texts must live until the call returns.
  Recognitions recognize(std::span<const std::string_view> texts, const RecognizeOptions& options = {},
                         const RunControl& control = {}) const;
  Recognitions recognize(std::span<const std::string> texts, const RecognizeOptions& options = {},
                         const RunControl& control = {}) const;
  Recognitions recognize(std::initializer_list<std::string_view> texts, const RecognizeOptions& options = {},
                         const RunControl& control = {}) const {
    return recognize(std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
  }

  /// The model's labels, in the order of its logits: "O", "B-PER", …; none of a GLiNER model.
  std::span<const std::string> labels() const;
  /// How labels of tokens become entities if options do not say it: aggregation_strategy under task_specific_params,
  /// token-classification, of the model's config.json, else simple.
  Aggregation usual_aggregation() const;
  std::size_t max_length() const;  // in tokens, with special tokens
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit RecognizePipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
