#include "pipelines/modules/kind_graph.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "formats/folder_weights.h"
#include "formats/weight_source.h"
#include "graph/builder_functions.h"
#include "graph/operands.h"
#include "models/weights/weights.h"
#include "pipelines/modules/embedding_graph.h"
#include "pipelines/modules/torch_activations.h"

namespace alate::pipelines {
namespace {

using graph::Builder;
using graph::Value;

Value linear(Builder& b, Value x, const LayerFile& layer) {
  const base::ContainedFiles contained(layer.file.parent_path());
  const std::shared_ptr<const formats::WeightSource> source =
      formats::open_weight_file(layer.file, base::MappedFile::Mode::read, contained);
  models::Weights weights(*source, "linear.");
  b.set_source(layer.file.stem().string());
  const std::int64_t in = b.shape(x).dims[1].number(), out = weights.rows("weight");
  graph::DenseOperands<> operands{.x = x, .weight = weights.get(b, "weight", {out, in})};
  if (weights.has("bias")) operands.bias = weights.get(b, "bias", {out});
  return b.dense(operands.list(), operands.flagged({}));
}

// The vectors of tokens for late interaction.
Value projected(Builder& b, Value x, const LateInteractionModule& module) {
  for (const TokenProjection& projection : module.projections) {
    const std::shared_ptr<const formats::WeightSource> source = formats::open_weights(
        projection.folder, projection.is_beside_encoder ? base::MappedFile::Mode::map : base::MappedFile::Mode::read);
    models::Weights weights(*source, "");
    b.set_source(projection.is_beside_encoder ? "linear" : projection.folder.filename().string());
    const std::int64_t in = b.shape(x).dims[1].number(), out = weights.rows("linear.weight");
    graph::DenseOperands<> operands{.x = x, .weight = weights.get(b, "linear.weight", {out, in})};
    if (weights.has("linear.bias")) operands.bias = weights.get(b, "linear.bias", {out});
    Value y = torch_activation(b, projection.activation, b.dense(operands.list(), operands.flagged({})));
    if (projection.has_residual)
      y = b.add({y, in == out ? x : b.dense({x, weights.get(b, "residual.weight", {out, in})}, {})});
    x = y;
  }
  return module.normalizes ? b.normalize({x}) : x;
}

Value vocabulary_logits(const models::BuiltEncoder& built) {
  const auto found = std::ranges::find(built.outputs, "logits", &models::EncoderOutput::name);
  if (found == built.outputs.end())
    throw Error(ErrorCode::unsupported,
                "sparse embeddings of this model need its logits of the vocabulary, which its file does not give "
                "here: ForMaskedLM");
  return found->value;
}

// Sums over each sequence's tokens.
Value summed(Builder& b, const models::EncoderInputs& in, Value x) {
  const Value mean = b.ragged_pool({x, in.starts, in.lengths}, {.mode = graph::PoolMode::mean, .longest = in.longest});
  const Value lengths = b.convert({in.lengths}, {.dtype = DType::f32});
  return b.mul({mean, b.broadcast_in_dim({lengths}, {.dims = b.shape(mean).dims, .mapping = {0}})});
}

Value splade(Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
             const SpladeModule& module) {
  b.set_source("splade_pooling");
  const auto activated = [&](Value x) {
    const Value once = b.log1p({graph::relu(b, x)});
    return module.takes_log_twice ? b.log1p({once}) : once;
  };
  const Value logits = vocabulary_logits(built);
  if (module.sums) return summed(b, in, activated(logits));
  // The activation never decreases: the maximum of its values is its value of the maximum, with fewer logarithms.
  return activated(
      b.ragged_pool({logits, in.starts, in.lengths}, {.mode = graph::PoolMode::max, .longest = in.longest}));
}

// Rows with mean 0 and deviation 1, estimated as of a sample (n - 1), as torch's std does.
Value standardized(Builder& b, Value x) {
  const std::int64_t width = b.shape(x).dims[1].number();
  const auto column = [&](Value y) { return b.broadcast_in_dim({y}, {.dims = b.shape(x).dims, .mapping = {0}}); };
  const Value centred = b.sub({x, column(graph::reduce_mean(b, x, graph::Numbers{1}))});
  const Value squares = b.reduce_sum({b.mul({centred, centred})}, {.axes = {1}});
  const Value variance = b.div({squares, graph::scalar_like(b, static_cast<double>(width - 1), squares)});
  const Value deviation = b.sqrt({variance});
  return b.div({centred, column(b.add({deviation, graph::scalar_like(b, 1e-5, deviation)}))});
}

// The codes of dense vectors, before the largest are taken.
Value codes(Builder& b, Value x, const AutoEncoderModule& module) {
  const std::shared_ptr<const formats::WeightSource> source =
      formats::open_weights(module.folder, base::MappedFile::Mode::read);
  models::Weights weights(*source, "");
  b.set_source(module.folder.filename().string());
  if (module.normalizes) x = standardized(b, x);
  // The decoder has the same weights; a file has them once.
  const std::string name = weights.has("encoder.weight") ? "encoder.weight" : "decoder.linear.weight";
  const std::int64_t in = b.shape(x).dims[1].number(), out = weights.rows(name);
  const Value shift = weights.get(b, "pre_bias", {in});
  const Value shifted = b.sub({x, b.broadcast_in_dim({shift}, {.dims = b.shape(x).dims, .mapping = {1}})});
  return b.dense({shifted, weights.get(b, name, {out, in}), weights.get(b, "latent_bias", {out})}, {.has_bias = true});
}

// The weight of each token of a table.
Value static_weights(Builder& b, const models::EncoderInputs& in, const StaticWeightsModule& module) {
  const std::shared_ptr<const formats::WeightSource> source =
      formats::open_weights(module.folder, base::MappedFile::Mode::read);
  models::Weights weights(*source, "");
  b.set_source(module.folder.filename().string());
  const std::int64_t rows = weights.floats("weight").extent(0);
  const Value table = b.reshape({weights.get(b, "weight", {rows})}, {.dims = {rows, 1}});
  return graph::take_rows(b, table, in.ids);
}

// Refers to the modules. `pooling` is null for models without SPLADE.
runtime::Head head_of(const EmbeddingModules& dense, const KindModules& modules, const EmbeddingKinds& kinds,
                      bool normalize, bool is_static, const SpladeModule* pooling) {
  return [&dense, &modules, kinds, normalize, is_static, pooling](Builder& b, const models::EncoderInputs& in,
                                                                  const models::BuiltEncoder& built) {
    if (is_static) {
      b.output("token_weights", static_weights(b, in, *modules.static_weights));
      return;
    }
    if (kinds.sparse && modules.autoencoder)
      b.output("sparse_embedding",
               codes(b, sentence_embedding(b, in, built, dense, dense.normalizes()), *modules.autoencoder));
    if (kinds.dense) embedding_head(dense, normalize)(b, in, built);
    if (kinds.sparse && pooling != nullptr) b.output("sparse_embedding", splade(b, in, built, *pooling));
    if (kinds.sparse && modules.token_weights)
      b.output("token_weights", graph::relu(b, linear(b, built.last_hidden_state, modules.token_weights->layer)));
    if (kinds.multi_vector && modules.late_interaction)
      b.output("token_vectors", projected(b, built.last_hidden_state, *modules.late_interaction));
    if (kinds.multi_vector && modules.token_vectors)
      b.output("token_vectors", b.normalize({linear(b, built.last_hidden_state, modules.token_vectors->layer)}));
  };
}

models::HeadChoice head_choice(const KindModules& modules, const EmbeddingKinds& kinds, bool is_static) {
  return kinds.sparse && modules.splade && !is_static ? models::HeadChoice::of_folder : models::HeadChoice::none;
}

}  // namespace

std::shared_ptr<const runtime::EntryPoint> kind_entry_point(const Model::State& model, const EmbeddingModules& dense,
                                                            const KindModules& modules, const EmbeddingKinds& kinds,
                                                            bool normalize, std::string_view task,
                                                            std::string_view adapter) {
  if (kinds == EmbeddingKinds::only(EmbeddingKind::dense))
    return embedding_entry_point(model, dense, normalize, adapter);
  std::string name = "embed";
  for (const EmbeddingKind kind : kinds.list()) {
    name += " ";
    name += to_string(kind);
  }
  if (kinds.dense && normalize) name += " normalized";
  if (!dense.route.empty()) name += " " + dense.route;
  const bool is_static = modules.is_static(task);
  if (is_static) name += " static";
  const SpladeModule* pooling = modules.splade ? &modules.splade_for(task) : nullptr;
  // Routes with the same settings share a program.
  if (pooling != nullptr && *pooling != *modules.splade) {
    name += pooling->sums ? " sum" : " max";
    if (pooling->takes_log_twice) name += " log twice";
  }
  return model.entry_point(name, {.head = head_of(dense, modules, kinds, normalize, is_static, pooling),
                                  .choice = head_choice(modules, kinds, is_static),
                                  .adapter = adapter});
}

void check_kinds(const Model::State& model, const EmbeddingModules& dense, const KindModules& modules,
                 const EmbeddingKinds& kinds, bool normalize) {
  const bool is_static = modules.is_static({});
  const SpladeModule* pooling = modules.splade ? &*modules.splade : nullptr;
  model.check(head_of(dense, modules, kinds, normalize, is_static, pooling), head_choice(modules, kinds, is_static));
}

}  // namespace alate::pipelines
