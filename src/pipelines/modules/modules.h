// The modules of a sentence-transformers folder: what follows the transformer, and its prompts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "alate/embedding.h"
#include "graph/attributes.h"
#include "pipelines/modules/module_list.h"
#include "pipelines/modules/prompts.h"
#include "pipelines/modules/transformer_settings.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

/// The values that modules pass on, by sentence-transformers' names.
inline constexpr std::string_view kTokenEmbeddings = "token_embeddings", kSentenceEmbedding = "sentence_embedding";
inline constexpr std::string_view kAllLayers = "all_layer_embeddings";

/// One vector of a text from those of its tokens.
struct PoolingModule {
  std::vector<graph::PoolMode> modes = {graph::PoolMode::mean};  // concatenated in this order
  bool include_prompt = true;                                    // whether the prompt's tokens are pooled too
};

/// A linear layer with its activation.
struct DenseModule {
  std::string activation;  // a class of torch.nn: "Tanh"
  bool has_residual = false;
};

/// The weighted mean of the hidden states from layer `first` on, where 0 are the embeddings.
struct LayerPoolingModule {
  std::size_t first = 4;
};

struct LayerNormModule {};
/// Scales vectors to length 1.
struct NormalizeModule {};

/// A module after the transformer: reads the value `input` and writes the value `output`.
struct ChainModule {
  std::filesystem::path folder;
  std::string input, output;
  std::variant<PoolingModule, DenseModule, LayerPoolingModule, LayerNormModule, NormalizeModule> kind;
};

struct EmbeddingModules : Prompts {
  TransformerSettings transformer;
  std::vector<ChainModule> chain;
  std::optional<std::size_t> kept_dimensions;  // truncate_dim of config_sentence_transformers.json
  std::string similarity;                      // similarity_fn_name of the same; empty: not stated

  // Of a Router: `chain` is that of the route `route`, which texts without a task take if one of these routes is for
  // them; `others` are the other routes over the same transformer.
  RouteTable routes;
  std::string route;
  std::vector<EmbeddingModules> others;

  /// The modules that texts of a task go through. Throws as RouteTable::place_of. REQUIRES: their route is over this
  /// transformer.
  const EmbeddingModules& for_task(std::string_view task) const;

  /// Whether the vectors of texts end in a normalization.
  bool normalizes() const;
  /// Of the first pooling; empty without one.
  std::span<const graph::PoolMode> pooling() const;
  /// Whether the prompt's tokens are pooled.
  bool pools_prompt() const;
  /// Replaces the modes of every pooling, of all routes. Throws unsupported for a chain without one.
  void set_pooling(Pooling pooling);
};

graph::PoolMode pool_mode(Pooling pooling);

/// The modules after the Transformer that `listed` begins with. Throws as read_modules.
std::vector<ChainModule> read_chain(const runtime::ModelFiles& files, std::span<const ListedModule> listed);
/// The values that the transformer and these modules make. Throws unsupported for a module that reads none of those
/// before it.
std::vector<std::string_view> require_inputs(const TransformerSettings& transformer,
                                             std::span<const ChainModule> chain);

/// Reads modules.json and the files it names. A folder without modules.json uses mean pooling, or that of the last
/// token for causal language models. Throws corrupt for files that contradict themselves and unsupported naming a
/// module or setting that is not known here. Where the folder's embeddings are not made of dense ones (KindModules),
/// modules.json itself and how the transformer's values are taken are not looked at. Of a Router the routes over the
/// transformer in `files.folder` are read.
EmbeddingModules read_modules(const runtime::ModelFiles& files, bool has_dense = true);

}  // namespace alate::pipelines
