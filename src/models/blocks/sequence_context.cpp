#include "models/blocks/sequence_context.h"

namespace alate::models {

graph::Value WholeTexts::attend(const std::string& /*layer*/, const graph::RaggedAttentionOperands<>& operands,
                                const graph::Attention& attributes) {
  return b_.ragged_attention(operands.list(), operands.flagged(attributes));
}

}  // namespace alate::models
