// The encoder of DeBERTa (He et al. 2021, arXiv:2006.03654): BERT's layers with disentangled attention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/blocks/disentangled_attention.h"
#include "models/blocks/post_norm_heads.h"

namespace alate::models {

/// How the generations of the family make the operands of attention, from the layer's input and the table of distances;
/// `name` is that of the layer's attention, "encoder.layer.0.attention.self.".
struct DisentangledFamily {
  DisentangledOperands (*content)(PostNormEncoder& encoder, const std::string& name, graph::Value x);
  graph::Value (*position_keys)(PostNormEncoder& encoder, const std::string& name, graph::Value table);
  graph::Value (*position_queries)(PostNormEncoder& encoder, const std::string& name, graph::Value table);
};

/// Sizes, in the keys and defaults that the generations share.
PostNormConfig read_disentangled_sizes(const formats::Json& config, const PostNormDefaults& defaults);
/// What attention needs, except for the scale and the span of generations that have buckets. Throws corrupt for sizes
/// that no such model has.
DisentangledConfig read_disentangled(const formats::Json& config, const PostNormConfig& sizes);
EncoderLimits disentangled_limits(const PostNormConfig& sizes);

class DisentangledEncoder {
 public:
  /// All must outlive it.
  DisentangledEncoder(PostNormEncoder& layers, const DisentangledConfig& config, const DisentangledFamily& family);

  /// [tokens, hidden]; masked tokens are zero.
  graph::Value embeddings();
  /// The table of distances, [2 * span, hidden].
  graph::Value distances();
  /// The layer of this number over x. `table` is the table of distances, if attention uses it.
  graph::Value layer(std::size_t index, graph::Value x, std::optional<graph::Value> table);
  /// Zeros for masked tokens, where the graph has some.
  graph::Value hide_masked(graph::Value x);

 private:
  PostNormEncoder& layers_;
  const DisentangledConfig& config_;
  const DisentangledFamily& family_;
  DisentangledAttention attention_;
};

// The heads of all generations.

EncoderOutputs disentangled_states(PostNormEncoder& encoder, graph::Value x);
/// `legacy` says which of two heads the folder has.
EncoderOutputs disentangled_language_logits(PostNormEncoder& encoder, graph::Value x);
/// A layer with pooler_hidden_act on the first token, then the classifier.
EncoderOutputs context_logits(PostNormEncoder& encoder, graph::Value x);
EncoderOutputs context_choice_logits(PostNormEncoder& encoder, graph::Value x);

}  // namespace alate::models
