#include "pipelines/embedding_graph.h"

#include "alate/error.h"

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

Value pooled(Builder& b, const models::EncoderInputs& in, Value x, const EmbeddingModules& modules) {
  const auto pool = [&](PoolMode mode) {
    return b.ragged_pool({x, in.pool_starts, in.pool_lengths}, {.mode = mode, .longest = in.longest});
  };
  std::vector<Value> parts;
  for (const PoolMode mode : modules.pooling) {
    const bool shifted = mode == PoolMode::weighted_mean && !modules.pool_prompt;
    parts.push_back(shifted ? weighted_mean(b, in, pool(PoolMode::mean), pool(mode)) : pool(mode));
  }
  return parts.size() == 1 ? parts.front() : b.concatenate(std::move(parts), {.axis = 1});
}

Value dense(Builder& b, Value x, const DenseModule& module) {
  const std::shared_ptr<const formats::WeightSource> source =
      formats::open_weights(module.folder, base::MappedFile::Mode::read);
  models::Weights weights(*source, "");
  b.set_source(module.folder.filename().string());
  const std::int64_t in = b.shape(x).dims[1].number(), out = weights.rows("linear.weight");
  std::vector<Value> operands = {x, weights.get(b, "linear.weight", {out, in})};
  const bool has_bias = weights.has("linear.bias");
  if (has_bias) operands.push_back(weights.get(b, "linear.bias", {out}));
  return models::activate(b, module.activation, b.dense(std::move(operands), {.has_bias = has_bias}));
}

}  // namespace

runtime::Head embedding_head(const EmbeddingModules& modules, bool normalize) {
  return [&modules, normalize](Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built) {
    b.set_source("pooling");
    Value x = pooled(b, in, built.last_hidden_state, modules);
    const std::size_t kept = modules.steps.size() - (modules.normalizes() ? 1 : 0);
    for (std::size_t i = 0; i < kept; ++i) {
      x = modules.steps[i].kind == ModuleStep::Kind::dense ? dense(b, x, modules.steps[i].dense) : b.normalize({x});
    }
    if (normalize) x = b.normalize({x});
    b.output("sentence_embedding", x);
  };
}

std::shared_ptr<const runtime::EntryPoint> embedding_entry_point(const Model::State& model,
                                                                 const EmbeddingModules& modules, bool normalize) {
  return model.entry_point(normalize ? "embed_normalized" : "embed", embedding_head(modules, normalize),
                           models::HeadChoice::none);
}

}  // namespace alate::pipelines
