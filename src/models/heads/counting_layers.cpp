#include "models/heads/counting_layers.h"

#include <cmath>
#include <string>

#include "graph/builder_functions.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr std::int64_t kTransformerWidth = 128, kTransformerHeads = 4, kTransformerLayers = 2;
constexpr std::int64_t kExpertCount = 4, kExpertFactor = 2;

class CountingLayers {
 public:
  CountingLayers(EncoderScope& scope, std::int64_t hidden) : scope_(scope), b_(scope.b), hidden_(hidden) {}

  std::vector<Value> states(Value labels, std::int64_t instances) {
    b_.set_source("count_embed.gru");
    const std::int64_t gates = 3 * hidden_;
    const Value places = weight("count_embed.pos_embedding.weight", {ExtractorConfig::kCounts, hidden_});
    const Value given = b_.dense({places, weight("count_embed.gru.weight_ih_l0", {gates, hidden_}),
                                  weight("count_embed.gru.bias_ih_l0", {gates})},
                                 {.has_bias = true});
    const Value recurrent = weight("count_embed.gru.weight_hh_l0", {gates, hidden_}),
                bias = weight("count_embed.gru.bias_hh_l0", {gates});
    std::vector<Value> states;
    Value state = labels;
    for (std::int64_t i = 0; i < instances; ++i) {
      const Value row = b_.slice({given}, {.starts = {i, 0}, .limits = {i + 1, gates}, .strides = {}});
      state = advanced(state, row, b_.dense({state, recurrent, bias}, {.has_bias = true}));
      states.push_back(state);
    }
    return states;
  }

  // [sequences, most_labels, instances, 2 · hidden]: a state and the label itself, through two layers.
  Value projected(Value labels, Value states) {
    const Value both = b_.concatenate({states, repeated(labels, states)}, {.axis = 3});
    b_.set_source("count_embed.projector");
    const Value first = graph::relu(b_, linear("count_embed.projector.0", both, 2 * hidden_, 4 * hidden_));
    return linear("count_embed.projector.2", first, 4 * hidden_, hidden_);
  }

  // A small transformer, in which the labels of a task see each other for each instance by itself.
  Value transformed(Value labels, Value states) {
    const std::string name = "count_embed.transformer.";
    const Value given = b_.add({states, repeated(labels, states)});
    b_.set_source(name + "transformer");
    Value x = linear(name + "in_projector", given, hidden_, kTransformerWidth);
    const Value bias = other_tasks_hidden();
    for (std::int64_t i = 0; i < kTransformerLayers; ++i)
      x = layer(name + "transformer.layers." + std::to_string(i) + ".", x, bias);
    b_.set_source(name + "out_projector");
    x = b_.concatenate({x, given}, {.axis = 3});
    x = graph::relu(b_, linear(name + "out_projector.0", x, hidden_ + kTransformerWidth, hidden_));
    x = graph::relu(b_, linear(name + "out_projector.2", x, hidden_, hidden_));
    return linear(name + "out_projector.4", x, hidden_, hidden_);
  }

  // The mean of several pairs of layers, weighted by a gate: with all of a kind in one matrix each, two products.
  Value mixed(Value states) {
    const std::int64_t inner = kExpertFactor * hidden_, all = kExpertCount * inner;
    b_.set_source("count_embed.router");
    const Value routed =
        b_.gelu({linear("count_embed.router.0", states, hidden_, hidden_)}, {.tanh_approximation = false});
    const Value gates = b_.softmax({linear("count_embed.router.2", routed, hidden_, kExpertCount)}, {.axis = 3});
    b_.set_source("count_embed.experts");
    const Value first = b_.reshape(
        {b_.transpose({weight("count_embed.w1", {kExpertCount, hidden_, inner})}, {.permutation = {0, 2, 1}})},
        {.dims = {all, hidden_}});
    const Value first_bias = b_.reshape({weight("count_embed.b1", {kExpertCount, inner})}, {.dims = {all}});
    const Value second = b_.reshape(
        {b_.transpose({weight("count_embed.w2", {kExpertCount, inner, hidden_})}, {.permutation = {2, 0, 1}})},
        {.dims = {hidden_, all}});
    const Value second_bias =
        b_.transpose({weight("count_embed.b2", {kExpertCount, hidden_})}, {.permutation = {1, 0}});
    const graph::Dims dims = b_.shape(states).dims, split = {dims[0], dims[1], dims[2], kExpertCount, inner};
    const Value within =
        b_.gelu({b_.dense({states, first, first_bias}, {.has_bias = true})}, {.tanh_approximation = false});
    const Value weighted = b_.mul({b_.reshape({within}, {.dims = split}),
                                   b_.broadcast_in_dim({gates}, {.dims = split, .mapping = {0, 1, 2, 3}})});
    const Value flat = b_.reshape({weighted}, {.dims = {dims[0], dims[1], dims[2], all}});
    return b_.add({b_.dense({flat, second}), b_.dense({gates, second_bias})});
  }

 private:
  Value weight(const std::string& name, const std::vector<std::int64_t>& extents) {
    return scope_.weights.get(b_, name, extents);
  }
  // Little work, and counts of instances hang on it: stays in float32.
  Value linear(const std::string& name, Value x, std::int64_t in, std::int64_t out) {
    return scope_.weights.linear(b_, name, x, in, out, Rounding::never);
  }

  // r, z = σ(input + state); n = tanh(input + r · state); (1 - z) · n + z · state, of torch.nn.GRU.
  Value advanced(Value state, Value row, Value of_state) {
    const std::vector<Value> input = graph::split_evenly(b_, row, 3, 1), own = graph::split_evenly(b_, of_state, 3, 2);
    const graph::Dims dims = b_.shape(state).dims;
    const auto of_all = [&](Value part) {
      return b_.broadcast_in_dim({b_.reshape({part}, {.dims = {hidden_}})}, {.dims = dims, .mapping = {2}});
    };
    const Value reset = b_.logistic({b_.add({of_all(input[0]), own[0]})});
    const Value kept = b_.logistic({b_.add({of_all(input[1]), own[1]})});
    const Value next = b_.tanh({b_.add({of_all(input[2]), b_.mul({reset, own[2]})})});
    return b_.add({next, b_.mul({kept, b_.sub({state, next})})});
  }

  Value repeated(Value labels, Value states) {
    return b_.broadcast_in_dim({labels}, {.dims = b_.shape(states).dims, .mapping = {0, 1, 3}});
  }

  // [sequences, 1, most_labels, most_labels]: far below all scores between labels of different tasks.
  Value other_tasks_hidden() {
    constexpr double kHidden = -1e30;
    const Value groups = scope_.in.words.value().tasks.value().label_groups;
    const graph::Dims dims = b_.shape(groups).dims, all = {dims[0], 1, dims[1], dims[1]};
    const auto along = [&](std::int64_t axis) {
      return b_.broadcast_in_dim({groups}, {.dims = all, .mapping = {0, axis}});
    };
    const auto filled = [&](double value) { return graph::broadcast_to(b_, b_.scalar(DType::f32, value), all); };
    return b_.select({b_.equal({along(2), along(3)}), filled(0), filled(kHidden)});
  }

  // torch.nn.TransformerEncoderLayer: norms after the residuals, a ReLU. Instances are further heads, so that labels of
  // different ones do not meet.
  Value layer(const std::string& name, Value x, Value bias) {
    constexpr std::int64_t kHeadSize = kTransformerWidth / kTransformerHeads;
    const graph::Dims dims = b_.shape(x).dims;
    const std::int64_t heads = dims[2].number() * kTransformerHeads;
    const Value matrix = weight(name + "self_attn.in_proj_weight", {3 * kTransformerWidth, kTransformerWidth});
    const Value offset = weight(name + "self_attn.in_proj_bias", {3 * kTransformerWidth});
    std::vector<Value> parts = graph::split_evenly(b_, b_.dense({x, matrix, offset}, {.has_bias = true}), 3, 3);
    for (Value& part : parts) part = b_.reshape({part}, {.dims = {dims[0], dims[1], heads, kHeadSize}});
    const Value seen = b_.attention({parts[0], parts[1], parts[2], bias},
                                    {.scale = 1 / std::sqrt(static_cast<double>(kHeadSize)), .has_bias = true});
    const Value attended =
        linear(name + "self_attn.out_proj", b_.reshape({seen}, {.dims = dims}), kTransformerWidth, kTransformerWidth);
    x = norm(name + "norm1", b_.add({x, attended}));
    const Value up = graph::relu(b_, linear(name + "linear1", x, kTransformerWidth, 2 * kTransformerWidth));
    return norm(name + "norm2", b_.add({x, linear(name + "linear2", up, 2 * kTransformerWidth, kTransformerWidth)}));
  }

  Value norm(const std::string& name, Value x) {
    return b_.layer_norm(
        {x, weight(name + ".weight", {kTransformerWidth}), weight(name + ".bias", {kTransformerWidth})},
        {.epsilon = 1e-5});
  }

  EncoderScope& scope_;
  graph::Builder& b_;
  const std::int64_t hidden_;
};

}  // namespace

std::vector<Value> instance_states(EncoderScope& scope, Value labels, std::int64_t hidden, std::int64_t instances) {
  return CountingLayers(scope, hidden).states(labels, instances);
}

Value instance_queries(EncoderScope& scope, CountingLayer layer, Value labels, const std::vector<Value>& states,
                       std::int64_t hidden) {
  CountingLayers layers(scope, hidden);
  const Value all = graph::stack(scope.b, states, 2);
  switch (layer) {
    case CountingLayer::lstm: return layers.projected(labels, all);
    case CountingLayer::lstm_v2: return layers.transformed(labels, all);
    case CountingLayer::experts: break;
  }
  return layers.mixed(all);
}

}  // namespace alate::models
