// Gradients of attention, by attention_gradient, which itself is differentiated through its decomposition.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

void attention(Backward& call) {
  const Attention attributes = call.as<Attention>();
  std::vector<Value> operands = call.node.operands;
  operands.push_back(call.g());
  const std::vector<Value> found = call.b.attention_gradient(std::move(operands), attributes);
  std::size_t next = 0;
  for (std::size_t place = 0; place < call.node.operands.size(); ++place) {
    if (place != 3 || !attributes.has_lengths) call.give(place, found[next++]);
  }
}

constexpr GradientRule kAttentionRules[] = {{Op::attention, attention}};

}  // namespace

std::span<const GradientRule> attention_gradients() { return kAttentionRules; }

}  // namespace alate::graph
