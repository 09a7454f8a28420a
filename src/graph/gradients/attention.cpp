// Gradients of attention, by attention_gradient, which itself is differentiated through its decomposition.
#include "graph/gradients/rules.h"
#include "graph/operands.h"

namespace alate::graph {
namespace {

void attention(Backward& call) {
  const Attention attributes = call.as<Attention>();
  const AttentionGradientOperands<> operands{.attention = AttentionOperands<>::of(call.node), .gradient = call.g()};
  const std::vector<Value> found = call.b.attention_gradient(operands.list(), attributes);
  auto at = places_of<AttentionOperands>(attributes);
  at.lengths.reset();  // has no gradient
  std::size_t next = 0;
  for (const std::size_t place : at.list()) call.give(place, found[next++]);
}

constexpr GradientRule kAttentionRules[] = {{Op::attention, attention}};

}  // namespace

std::span<const GradientRule> attention_gradients() { return kAttentionRules; }

}  // namespace alate::graph
