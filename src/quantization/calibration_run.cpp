#include "quantization/calibration_run.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "backends/registry.h"
#include "graph/op.h"
#include "runtime/loading/loaded_model.h"

namespace alate::quantization {
namespace {

// Sums over a batch are added up in this order: another size would change the last bits of quantized weights.
constexpr std::size_t kTokensAtATime = 1024;

struct Built {
  graph::Builder builder;
  models::EncoderInputs inputs;
  std::vector<models::LinearLayer> layers;
  std::vector<models::LookupTable> tables;
};

Built build(const ModelSource& source, const models::TensorsByName* replaced,
            const models::QuantizationConfig& quantization) {
  Built built{.builder = graph::Builder("calibration"), .inputs = {}, .layers = {}, .tables = {}};
  built.inputs = models::declare_encoder_inputs(built.builder);
  models::Weights weights(source.file, std::string(models::weight_prefix(source.architecture, source.config)),
                          {.quantization = quantization}, replaced);
  models::build_encoder(source.architecture, built.builder, source.config, weights, built.inputs,
                        models::HeadChoice::none);
  built.layers.assign(weights.linear_layers().begin(), weights.linear_layers().end());
  built.tables.assign(weights.lookup_tables().begin(), weights.lookup_tables().end());
  return built;
}

// Batches of texts in order, as many as fit into each.
std::vector<PackedTokens> batches_of(const PackedTokens& tokens) {
  std::vector<PackedTokens> batches;
  std::size_t at = 0;
  for (const std::int32_t length : tokens.lengths) {
    const auto count = static_cast<std::size_t>(length);
    if (batches.empty() || batches.back().ids.size() + count > kTokensAtATime) batches.emplace_back();
    batches.back().ids.insert(batches.back().ids.end(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(at),
                              tokens.ids.begin() + static_cast<std::ptrdiff_t>(at + count));
    batches.back().lengths.push_back(length);
    at += count;
  }
  return batches;
}

// Finds the single layer that a value is computed from.
class Feeder {
 public:
  Feeder(const graph::Graph& graph, std::span<const models::LinearLayer> layers)
      : graph_(graph), layers_(layers), readers_(graph.nodes().size()) {
    for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) {
      for (const graph::Value operand : graph.node(id).operands) readers_[operand.node].push_back(id);
    }
  }

  std::optional<std::size_t> behind(graph::Value x) {
    found_.reset();
    passed_.clear();
    if (!walk(x) || !found_) return {};
    // Values on the way may have no readers outside it; x itself is read by the layers that it feeds.
    passed_.push_back(layers_[*found_].y.node);
    for (const graph::NodeId id : passed_) {
      if (id == x.node) continue;
      for (const graph::NodeId reader : readers_[id]) {
        if (std::ranges::find(passed_, reader) == passed_.end()) return {};
      }
    }
    const bool feeds_layers = std::ranges::all_of(readers_[x.node], [&](graph::NodeId reader) {
      return std::ranges::any_of(layers_, [&](const models::LinearLayer& layer) { return layer.y.node == reader; });
    });
    return feeds_layers && found_ && layers_[*found_].y != x ? found_ : std::nullopt;
  }

 private:
  // Whether the value is an element-wise function of one layer's outputs and of uniform values.
  bool walk(graph::Value value) {
    if (is_uniform(value)) return true;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].y != value) continue;
      if (found_ && *found_ != i) return false;
      found_ = i;
      return true;
    }
    const graph::Node& node = graph_.node(value.node);
    const bool is_elementwise =
        graph::op_info(node.op).has(graph::kElementwise) || node.op == graph::Op::gelu || node.op == graph::Op::silu;
    if (!is_elementwise) return false;
    if (std::ranges::find(passed_, value.node) != passed_.end()) return true;
    passed_.push_back(value.node);
    return std::ranges::all_of(node.operands, [&](graph::Value operand) { return walk(operand); });
  }

  bool is_uniform(graph::Value value) const {
    const graph::Node& node = graph_.node(value.node);
    if (node.op == graph::Op::broadcast_in_dim || node.op == graph::Op::reshape) return is_uniform(node.operands[0]);
    return node.op == graph::Op::constant && graph_.shape(value).is_static() &&
           graph_.shape(value).element_count() == 1;
  }

  const graph::Graph& graph_;
  std::span<const models::LinearLayer> layers_;
  std::vector<std::vector<graph::NodeId>> readers_;
  std::optional<std::size_t> found_;
  std::vector<graph::NodeId> passed_;
};

InputKind kind_of_input(const graph::Graph& graph, graph::Value x) {
  while (graph.node(x.node).op == graph::Op::reshape) x = graph.node(x.node).operands[0];
  switch (graph.node(x.node).op) {
    case graph::Op::layer_norm:
    case graph::Op::rms_norm: return InputKind::norm;
    case graph::Op::attention:
    case graph::Op::ragged_attention: return InputKind::attention;
    default: return InputKind::other;
  }
}

}  // namespace

ModelLayers find_layers(const ModelSource& source) {
  Built built = build(source, nullptr, {});
  Feeder feeder(built.builder.so_far(), built.layers);
  std::vector<std::size_t> fed_by;
  std::vector<InputKind> inputs;
  for (std::size_t i = 0; i < built.layers.size(); ++i) {
    const graph::Value x = built.layers[i].x;
    fed_by.push_back(feeder.behind(x).value_or(i));
    inputs.push_back(fed_by.back() < i ? InputKind::activation : kind_of_input(built.builder.so_far(), x));
  }
  return {.linear = std::move(built.layers),
          .tables = std::move(built.tables),
          .fed_by = std::move(fed_by),
          .inputs = std::move(inputs)};
}

CalibrationRun::CalibrationRun(ModelSource source, const PackedTokens& tokens, std::function<void()> ran_batch)
    : source_(source),
      batches_(batches_of(tokens)),
      tokens_(tokens.ids.size()),
      ran_batch_(std::move(ran_batch)),
      store_(std::make_shared<backends::WeightStore>()) {}

std::vector<Inputs> CalibrationRun::inputs_of(std::span<const std::size_t> layers,
                                              const models::TensorsByName& replaced,
                                              const models::QuantizationConfig& quantization) {
  Built built = build(source_, &replaced, quantization);
  std::vector<Inputs> inputs;
  for (const std::size_t i : layers) {
    built.builder.output("x" + std::to_string(i), built.layers.at(i).x);
    inputs.push_back({.values = {}, .columns = static_cast<std::size_t>(built.layers[i].in)});
    inputs.back().values.reserve(tokens_ * inputs.back().columns);
  }
  runtime::Feeders feeders;
  feeders.push_back(runtime::feed_packed_tokens(source_.architecture.limits(source_.config)));
  const graph::Graph graph = built.builder.finish();
  const runtime::EntryPoint entry_point(backends::get_backend("cpu").compile(graph, {.weights = store_}),
                                        std::move(feeders), models::counted_dims(built.inputs), graph.dims());
  for (const PackedTokens& batch : batches_) {
    const std::vector<Tensor> results = entry_point.run(batch, {}, {.cancellation = base::Cancellation::never()});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::span<const float> values = results[i].values<float>();
      inputs[i].values.insert(inputs[i].values.end(), values.begin(), values.end());
    }
    if (ran_batch_) ran_batch_();
  }
  return inputs;
}

std::vector<std::vector<double>> CalibrationRun::means_as_stored(std::span<const std::size_t> layers) {
  std::vector<std::vector<double>> means;
  for (const std::size_t layer : layers) {
    // One after another: all at once would be many times the model's size.
    for (const Inputs& inputs : inputs_of({&layer, 1}, {}, {})) means.push_back(column_means(inputs));
  }
  return means;
}

}  // namespace alate::quantization
