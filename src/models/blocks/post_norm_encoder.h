// The encoder that BERT and its descendants share: learned positions, and layers with a norm after each residual.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/encoder.h"

namespace alate::models {

/// The settings of config.json, by transformers' names. `family` is for messages, the others are the defaults of the
/// family's configuration class.
struct PostNormDefaults {
  std::string_view family;
  std::int64_t vocabulary = 30522, positions = 512, types = 2;
};

struct PostNormConfig {
  std::int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0, intermediate = 0, positions = 0, types = 0;
  double epsilon = 0;
  std::string activation;

  std::int64_t head_size() const { return hidden / heads; }
};

/// Throws corrupt for sizes that no such model has, unsupported for decoders and other kinds of positions.
PostNormConfig read_post_norm_config(const formats::Json& config, const PostNormDefaults& defaults);

/// The names of a masked-language head's layers.
struct LanguageHead {
  std::string source, dense, norm, decoder, bias;  // NAME.weight and so on; the bias may also be that of the decoder
  std::string activation;                          // of the dense layer
};

/// Builds the parts of such an encoder, by the names that its weights have in transformers. Devlin et al. 2018,
/// arXiv:1810.04805.
class PostNormEncoder {
 public:
  /// Both must outlive it.
  PostNormEncoder(EncoderScope& scope, const PostNormConfig& config) : scope_(scope), config_(config) {}

  /// Embeddings and all layers: [tokens, hidden].
  graph::Value encode();

  /// The outputs of the base model: the last hidden state and, where the file has its weights, the pooler's output.
  std::vector<EncoderOutput> base_outputs(graph::Value last_hidden_state);
  /// The logits of the vocabulary [tokens, vocabulary]: a transform, then a product with the word table, or with the
  /// head's own table where the file has one.
  graph::Value language_logits(const LanguageHead& head, graph::Value last_hidden_state);
  /// A layer whose output width is given by the file.
  graph::Value projection(const std::string& name, graph::Value x);

  /// NAME.weight and NAME.bias. Heads are little work and decide the result: they stay in float32.
  graph::Value head_layer(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);
  graph::Value norm(const std::string& name, graph::Value x, std::int64_t width);
  /// tanh(pooler.dense) of each sequence's first token: [sequences, hidden].
  graph::Value pooler(graph::Value last_hidden_state);
  graph::Value first_tokens(graph::Value last_hidden_state);

 private:
  graph::Value embeddings();
  graph::Value layer(std::int64_t index, graph::Value x);
  graph::Value attention(const std::string& name, graph::Value x);
  graph::Value linear(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);

  EncoderScope& scope_;
  const PostNormConfig& config_;
};

}  // namespace alate::models
