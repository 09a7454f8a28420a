// The kinds of embeddings that a model's folder gives, and the layers that make the sparse and the multi-vector ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding_kinds.h"
#include "pipelines/modules/late_interaction_modules.h"
#include "pipelines/modules/module_list.h"

namespace alate::pipelines {

/// Weights of vocabulary entries from the logits of a masked language model: SPLADE (Formal et al. 2021,
/// arXiv:2109.10086), log(1 + relu(logits)) over the text's tokens.
struct SpladeModule {
  bool sums = false;             // over the tokens, instead of their maximum
  bool takes_log_twice = false;  // activation_function "log1p_relu" (arXiv:2504.14839)

  bool operator==(const SpladeModule&) const = default;
};

/// A linear layer in a file of its own.
struct LayerFile {
  std::filesystem::path file;
};

/// A weight of each token, the largest of equal tokens: bge-m3 (Chen et al. 2024, arXiv:2402.03216).
struct TokenWeightsModule {
  LayerFile layer;
  std::vector<std::string> left_out;  // tokens without a weight: the special ones
};

/// A vector of each token but the first: bge-m3.
struct TokenVectorsModule {
  LayerFile layer;
};

/// Sparse vectors from dense ones (CSR: Wen et al. 2025, arXiv:2503.01776): the largest of the numbers that a linear
/// layer makes of a dense vector.
struct AutoEncoderModule {
  std::filesystem::path folder;
  std::size_t kept = 8;     // numbers
  bool normalizes = false;  // the dense vector: to mean 0 and deviation 1
};

/// A weight of each token by a table, without the encoder: queries of models whose documents SPLADE expands.
struct StaticWeightsModule {
  std::filesystem::path folder;      // of the table and of the tokenizer
  std::vector<std::string> reached;  // the routes that end here; the others are SPLADE's
};

struct KindModules {
  bool is_dense = true;
  std::optional<SpladeModule> splade;  // of a Router: that of texts without a task, else of the first route
  std::optional<StaticWeightsModule> static_weights;  // only beside splade
  std::optional<AutoEncoderModule> autoencoder;       // not beside others
  std::optional<TokenWeightsModule> token_weights;    // not beside splade
  std::optional<TokenVectorsModule> token_vectors;
  std::optional<LateInteractionModule> late_interaction;  // not beside others

  // Of a Router of sparse models: its routes, and the settings of those that end in SPLADE over this transformer.
  RouteTable routes;
  std::map<std::string, SpladeModule, std::less<>> splades;

  EmbeddingKinds kinds() const {
    return {.dense = is_dense,
            .sparse = splade || token_weights || autoencoder,
            .multi_vector = token_vectors || late_interaction};
  }
  /// Whether dense vectors are made, for themselves or on the way.
  bool has_dense_chain() const { return is_dense || autoencoder; }
  /// Whether the texts of a task have static weights. Throws as RouteTable::place_of.
  bool is_static(std::string_view task) const;
  /// The settings for the texts of a task. Throws as RouteTable::place_of. REQUIRES: splade.
  const SpladeModule& splade_for(std::string_view task) const;
  /// The kind that the folder is for.
  EmbeddingKind main_kind() const { return kinds().list().front(); }
};

/// Reads modules.json, config.json and the names of files. Throws corrupt for files that contradict themselves, and
/// unsupported naming a module or setting that is not known here. Modules of dense embeddings are not looked at. Of a
/// Router with several transformers the routes over that in the folder `transformer` are read; empty: over the first.
KindModules read_kind_modules(const std::filesystem::path& folder, const std::filesystem::path& transformer = {});

}  // namespace alate::pipelines
