#include "pipelines/modules/embedding_graph.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "alate/error.h"
#include "formats/weight_source.h"
#include "graph/builder_functions.h"
#include "graph/operands.h"
#include "models/weights/weights.h"
#include "pipelines/modules/torch_activations.h"

namespace alate::pipelines {
namespace {

using graph::Builder;
using graph::PoolMode;
using graph::scalar_like;
using graph::Value;

Value as_column(Builder& b, Value x, Value like) {
  return b.broadcast_in_dim({x}, {.dims = b.shape(like).dims, .mapping = {0}});
}

// Token j of a sequence has weight j + 1, counted from the sequence's first token even where pooling begins later. With
// s tokens skipped and n pooled, Σ (s + j) x_j / Σ (s + j) over j = 1…n is a blend of the mean (weight s · n) and the
// weighted mean (weight n (n + 1) / 2) of the pooled tokens.
Value weighted_mean(Builder& b, const models::EncoderInputs& in, Value mean, Value weighted) {
  const auto number = [&](Value x) { return b.convert({x}, {.dtype = DType::f32}); };
  const Value skipped = number(b.sub({in.pool_starts, in.starts})), count = number(in.pool_lengths);
  const Value mean_weight = b.mul({skipped, count});
  const Value weighted_weight =
      b.mul({b.mul({count, b.add({count, scalar_like(b, 1, count)})}), scalar_like(b, 0.5, count)});
  Value total = b.add({mean_weight, weighted_weight});
  total = b.max({total, scalar_like(b, 1, total)});
  return b.add({b.mul({mean, as_column(b, b.div({mean_weight, total}), mean)}),
                b.mul({weighted, as_column(b, b.div({weighted_weight, total}), weighted)})});
}

// Builds modules one after the other. The values that they pass on are known by name.
class ChainBuilder {
 public:
  ChainBuilder(Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built)
      : b_(b), in_(in), layers_(built.hidden_states) {
    set(std::string(kAllLayers), built.last_hidden_state);  // stands for the list, which is no value
  }

  void set(const std::string& name, Value value) { values_.insert_or_assign(name, value); }
  Value get(std::string_view name) const { return values_.find(name)->second; }

  void add(const ChainModule& module) {
    b_.set_source(module.folder.filename().string());
    const Value x = get(module.input);
    set(module.output, std::visit([&](const auto& kind) { return build(module, kind, x); }, module.kind));
  }

 private:
  Value build(const ChainModule&, const PoolingModule& pooling, Value x) {
    const auto pool = [&](PoolMode mode) {
      return b_.ragged_pool({x, in_.pool_starts, in_.pool_lengths}, {.mode = mode, .longest = in_.longest});
    };
    std::vector<Value> parts;
    for (const PoolMode mode : pooling.modes) {
      const bool shifted = mode == PoolMode::weighted_mean && !pooling.include_prompt;
      parts.push_back(shifted ? weighted_mean(b_, in_, pool(PoolMode::mean), pool(mode)) : pool(mode));
    }
    return parts.size() == 1 ? parts.front() : b_.concatenate(std::move(parts), {.axis = 1});
  }

  Value build(const ChainModule& module, const DenseModule& dense, Value x) {
    if (is_along_rows(dense.activation) && b_.shape(x).dims[0] == in_.tokens)
      throw make_error(ErrorCode::unsupported, "the Dense module in '", module.folder.filename().string(), "' applies ",
                       dense.activation, " to vectors of tokens, which is not built here: ", dense.activation);
    const std::shared_ptr<const formats::WeightSource> source = open(module);
    models::Weights weights(*source, "");
    const std::int64_t in = b_.shape(x).dims[1].number(), out = weights.rows("linear.weight");
    graph::DenseOperands<> operands{.x = x, .weight = weights.get(b_, "linear.weight", {out, in})};
    if (weights.has("linear.bias")) operands.bias = weights.get(b_, "linear.bias", {out});
    const Value linear = b_.dense(operands.list(), operands.flagged({}));
    const Value y = dense.activation == kPRelu
                        ? graph::prelu(b_, linear, weights.get(b_, "activation_function.weight", {1}))
                        : torch_activation(b_, dense.activation, linear);
    if (!dense.has_residual) return y;
    if (in == out) return b_.add({y, x});
    return b_.add({y, b_.dense({x, weights.get(b_, "residual.weight", {out, in})}, {})});
  }

  Value build(const ChainModule& module, const LayerNormModule&, Value x) {
    const std::shared_ptr<const formats::WeightSource> source = open(module);
    models::Weights weights(*source, "");
    const std::int64_t width = b_.shape(x).dims[1].number();
    return b_.layer_norm({x, weights.get(b_, "norm.weight", {width}), weights.get(b_, "norm.bias", {width})},
                         {.epsilon = kTorchEpsilon});
  }

  Value build(const ChainModule&, const NormalizeModule&, Value x) { return b_.normalize({x}); }

  Value build(const ChainModule& module, const LayerPoolingModule& pooling, Value) {
    if (layers_.empty())
      throw make_error(
          ErrorCode::unsupported, "the WeightedLayerPooling module in '", module.folder.filename().string(),
          "' reads all layers of the encoder, which this architecture does not give here: ", "WeightedLayerPooling");
    const std::shared_ptr<const formats::WeightSource> source = open(module);
    const Tensor stored = models::Weights(*source, "").floats("layer_weights");
    const std::span<const float> factors = stored.values<float>();
    if (pooling.first >= layers_.size() || factors.size() != layers_.size() - pooling.first)
      throw make_error(ErrorCode::corrupt, "the WeightedLayerPooling module in '", module.folder.filename().string(),
                       "' has ", factors.size(), " weights for the layers from ", pooling.first, " of ",
                       layers_.size() - 1);
    const double sum = std::accumulate(factors.begin(), factors.end(), 0.0);
    std::optional<Value> mean;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const Value layer = layers_[pooling.first + i];
      const Value part = b_.mul({layer, scalar_like(b_, factors[i] / sum, layer)});
      mean = mean ? b_.add({*mean, part}) : part;
    }
    return *mean;
  }

  static std::shared_ptr<const formats::WeightSource> open(const ChainModule& module) {
    return formats::open_weights(module.folder, base::MappedFile::Mode::read);
  }

  static constexpr double kTorchEpsilon = 1e-5;  // of torch.nn.LayerNorm

  Builder& b_;
  const models::EncoderInputs& in_;
  std::span<const Value> layers_;
  std::map<std::string, Value, std::less<>> values_;
};

// The chain without the normalization that its vectors end in.
std::span<const ChainModule> without_last_normalization(const EmbeddingModules& modules) {
  std::span<const ChainModule> chain = modules.chain;
  if (!modules.normalizes()) return chain;
  while (chain.back().output != kSentenceEmbedding) chain = chain.first(chain.size() - 1);
  return chain.first(chain.size() - 1);
}

}  // namespace

Value chain_value(Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                  const TransformerSettings& transformer, std::span<const ChainModule> modules, std::string_view name) {
  ChainBuilder chain(b, in, built);
  chain.set(transformer.output_name, built.last_hidden_state);
  for (const ChainModule& module : modules) chain.add(module);
  return chain.get(name);
}

Value sentence_embedding(Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                         const EmbeddingModules& modules, bool normalize) {
  const Value x =
      chain_value(b, in, built, modules.transformer, without_last_normalization(modules), kSentenceEmbedding);
  return normalize ? b.normalize({x}) : x;
}

runtime::Head embedding_head(const EmbeddingModules& modules, bool normalize) {
  return [&modules, normalize](Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built) {
    b.output("sentence_embedding", sentence_embedding(b, in, built, modules, normalize));
  };
}

std::shared_ptr<const runtime::EntryPoint> embedding_entry_point(const Model::State& model,
                                                                 const EmbeddingModules& modules, bool normalize,
                                                                 std::string_view adapter) {
  std::string name = normalize ? "embed_normalized" : "embed";
  if (!modules.route.empty()) name += " " + modules.route;
  return model.entry_point(name, {.head = embedding_head(modules, normalize), .adapter = adapter});
}

}  // namespace alate::pipelines
