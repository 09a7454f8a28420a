// The encoder that BERT and its descendants share: learned positions, and layers with a norm after each residual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/blocks/distance_scores.h"
#include "models/encoder.h"

namespace alate::models {

/// The names of weights in a layer and around the layers, where families differ; by default BERT's.
struct PostNormNames {
  std::string_view query = "attention.self.query", key = "attention.self.key", value = "attention.self.value";
  std::string_view attention_output = "attention.output.dense", attention_norm = "attention.output.LayerNorm";
  std::string_view up = "intermediate.dense", down = "output.dense", output_norm = "output.LayerNorm";
  std::string_view embedding_projection = {};  // from the width of the tables to that of the layers
  std::string_view pooler = "pooler.dense";
};

/// The keys of config.json and their defaults in the family's configuration class. `family` is for messages.
struct PostNormDefaults {
  std::string_view family;
  std::int64_t vocabulary = 30522, positions = 512, types = 2, hidden = 768, layers = 12, heads = 12,
               intermediate = 3072;
  std::int64_t embedding = 0;  // embedding_size; 0: the family has none
  double epsilon = 1e-12;
  std::string_view activation = "gelu";
  std::string_view hidden_key = "hidden_size", layers_key = "num_hidden_layers", heads_key = "num_attention_heads",
                   intermediate_key = "intermediate_size", activation_key = "hidden_act";
};

struct PostNormConfig {
  std::int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0, intermediate = 0, positions = 0;
  std::int64_t types = 0;      // 0: no table of types
  std::int64_t tasks = 0;      // rows of a table of tasks, of which every token has row 0; 0: no table
  std::int64_t embedding = 0;  // width of the tables
  double epsilon = 0;
  std::string activation;
  PostNormNames names = {};
  std::vector<std::string> layer_names;  // before the names of each layer's weights: "encoder.layer.0."

  std::int64_t head_size() const { return hidden / heads; }
};

/// Throws corrupt for sizes that no such model has, unsupported for decoders and other kinds of positions.
PostNormConfig read_post_norm_config(const formats::Json& config, const PostNormDefaults& defaults);

/// What callers of the graph must know; token types are ignored by families without them.
EncoderLimits post_norm_limits(const PostNormConfig& config);

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

  EncoderScope& scope() const { return scope_; }
  const PostNormConfig& config() const { return config_; }

  /// Embeddings and all layers: [tokens, hidden]. `scores` are added to those of attention in every layer.
  graph::Value encode(const std::optional<AddedScores>& scores = {});

  /// The outputs of the base model: the last hidden state and, where the file has its weights, the pooler's output.
  std::vector<EncoderOutput> base_outputs(graph::Value last_hidden_state);
  /// The logits of the vocabulary [tokens, vocabulary]: a transform, then a product with the word table, or with the
  /// head's own table where the file has one.
  graph::Value language_logits(const LanguageHead& head, graph::Value last_hidden_state);
  /// A layer over x, whose attention gives `attended` [tokens, hidden].
  graph::Value layer(const std::string& name, graph::Value x, graph::Value attended);
  /// NAME of x, as [tokens, heads, head size].
  graph::Value heads(const std::string& name, graph::Value x);
  /// A layer whose output width is given by the file.
  graph::Value projection(const std::string& name, graph::Value x);

  /// NAME.weight and NAME.bias. Heads are little work and decide the result: they stay in float32.
  graph::Value head_layer(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);
  graph::Value norm(const std::string& name, graph::Value x, std::int64_t width);
  /// tanh of a layer over each sequence's first token: [sequences, hidden].
  graph::Value pooler(graph::Value last_hidden_state);
  graph::Value first_tokens(graph::Value last_hidden_state);

 private:
  graph::Value embeddings();
  graph::Value attention(const std::string& name, graph::Value x);
  graph::Value linear(const std::string& name, graph::Value x, std::int64_t from, std::int64_t to);

  EncoderScope& scope_;
  std::optional<AddedScores> scores_;
  const PostNormConfig& config_;
};

}  // namespace alate::models
