#include "models/blocks/experts.h"

#include "graph/builder_functions.h"

namespace alate::models {
namespace {

using graph::Value;

// [tokens, experts]: the softmax of the scores for the best ones, 0 for the others.
Value gates_of(EncoderScope& scope, const std::string& name, const ExpertSizes& sizes, Value x) {
  graph::Builder& b = scope.b;
  const Value scores =
      scope.weights.linear(b, name + ".router.layer", x, sizes.hidden, sizes.count, Rounding::never, Bias::if_stored);
  const Value shares = b.softmax({scores}, {.axis = 1});
  const Value places = b.top_k({shares}, {.k = sizes.taken}).at(1);
  const Value taken = graph::one_hot(b, places, sizes.count, DType::f32);  // [tokens, taken, experts]
  return b.mul({shares, b.reduce_sum({taken}, {.axes = {1}})});
}

}  // namespace

Value expert_layers(EncoderScope& scope, const std::string& name, const ExpertSizes& sizes, std::string_view activation,
                    Value x) {
  graph::Builder& b = scope.b;
  const graph::Dims rows = {scope.in.tokens, sizes.hidden}, wide = {scope.in.tokens, sizes.intermediate};
  const Value gates = gates_of(scope, name, sizes, x);
  const std::string experts = name + ".experts";
  const std::int64_t all = sizes.count * sizes.intermediate;
  const Value up = scope.weights.get(b, experts + ".mlp.w1", {all, sizes.hidden});
  const Value down = scope.weights.get(b, experts + ".mlp.w2", {all, sizes.hidden});
  Value sum =
      b.broadcast_in_dim({scope.weights.get(b, experts + ".bias", {sizes.hidden})}, {.dims = rows, .mapping = {1}});
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    const graph::Slice own{
        .starts = {i * sizes.intermediate, 0}, .limits = {(i + 1) * sizes.intermediate, sizes.hidden}, .strides = {}};
    const Value inner = activate(b, activation, b.dense({x, b.slice({up}, own)}, {.has_bias = false}));
    const Value gate = b.broadcast_in_dim({graph::column(b, gates, i)}, {.dims = wide, .mapping = {0}});
    sum = b.add({sum, graph::matmul(b, b.mul({inner, gate}), b.slice({down}, own))});
  }
  return sum;
}

}  // namespace alate::models
