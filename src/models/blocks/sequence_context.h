// How the tokens of a graph see each other.
#pragma once

#include <optional>
#include <string>

#include "graph/attributes.h"
#include "graph/builder.h"
#include "graph/operands.h"

namespace alate::models {

/// What is the same for whole texts and for steps of decoding is built once; this is what differs.
class SequenceContext {
 public:
  virtual ~SequenceContext() = default;
  SequenceContext(const SequenceContext&) = delete;
  SequenceContext& operator=(const SequenceContext&) = delete;

  /// The attention of the layer of this name, [tokens, heads, width]. `operands` has queries, keys and values of the
  /// graph's tokens and what is added to their scores.
  virtual graph::Value attend(const std::string& layer, const graph::RaggedAttentionOperands<>& operands,
                              const graph::Attention& attributes) = 0;

  /// The last position of each text, i32 [sequences]. Absent: it is that of the graph's last token of the sequence.
  virtual std::optional<graph::Value> last_positions() const { return std::nullopt; }

 protected:
  SequenceContext() = default;
};

/// The tokens are all of their texts.
class WholeTexts final : public SequenceContext {
 public:
  explicit WholeTexts(graph::Builder& b) : b_(b) {}

  graph::Value attend(const std::string& layer, const graph::RaggedAttentionOperands<>& operands,
                      const graph::Attention& attributes) override;

 private:
  graph::Builder& b_;
};

}  // namespace alate::models
