// Steps of decoding: the tokens of a graph are the last ones of sequences whose earlier ones are in a cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/blocks/sequence_context.h"
#include "models/inputs/encoder_inputs.h"
#include "models/inputs/page_inputs.h"

namespace alate::models {

/// Keys and values are written to pages, and read from them; in i8 as integers with a scale for each token and head.
/// EncoderInputs::key_lengths count a sequence's tokens in the cache, with those of the graph.
class CachedSequences final : public SequenceContext {
 public:
  /// All must outlive it. The cache's values are of `dtype`.
  CachedSequences(graph::Builder& b, const EncoderInputs& inputs, const PageInputs& pages, DType dtype)
      : b_(b), in_(inputs), pages_(pages), dtype_(dtype) {}

  /// Adds two parameters, the layer's keys and values. Throws unsupported for attention that sees later tokens, or by
  /// more than the places of tokens.
  graph::Value attend(const std::string& layer, const graph::RaggedAttentionOperands<>& operands,
                      const graph::Attention& attributes) override;
  std::optional<graph::Value> last_positions() const override { return pages_.last_positions; }

  /// Adds the caches as outputs, after all others, and lists them.
  CacheLayout finish();

 private:
  struct Written {
    CacheSpec spec;
    std::size_t parameter;
    graph::Value value;
  };
  struct Cache {
    graph::Value rows;
    std::optional<graph::Value> scales;  // of i8
  };
  Cache write(const std::string& name, graph::Value rows);
  graph::Value write(const std::string& name, DType dtype, graph::Value rows);

  graph::Builder& b_;
  const EncoderInputs& in_;
  const PageInputs& pages_;
  DType dtype_;
  std::vector<Written> written_;
};

}  // namespace alate::models
