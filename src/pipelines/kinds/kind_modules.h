// The kinds of embeddings that a model's folder gives, and the layers that make the sparse and the multi-vector ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "pipelines/kinds/late_interaction_modules.h"

namespace alate::pipelines {

/// Weights of vocabulary entries from the logits of a masked language model: SPLADE (Formal et al. 2021,
/// arXiv:2109.10086), log(1 + relu(logits)) over the text's tokens.
struct SpladeModule {
  bool sums = false;             // over the tokens, instead of their maximum
  bool takes_log_twice = false;  // activation_function "log1p_relu" (arXiv:2504.14839)
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

struct KindModules {
  bool is_dense = true;
  std::optional<SpladeModule> splade;
  std::optional<TokenWeightsModule> token_weights;  // not beside splade
  std::optional<TokenVectorsModule> token_vectors;
  std::optional<LateInteractionModule> late_interaction;  // not beside others

  EmbeddingKinds kinds() const {
    return {.dense = is_dense, .sparse = splade || token_weights, .multi_vector = token_vectors || late_interaction};
  }
  /// The kind that the folder is for.
  EmbeddingKind main_kind() const { return kinds().list().front(); }
};

/// Reads modules.json, config.json and the names of files. Throws corrupt for files that contradict themselves, and
/// unsupported naming a module or setting that is not known here. Modules of dense embeddings are not looked at.
KindModules read_kind_modules(const std::filesystem::path& folder);

}  // namespace alate::pipelines
