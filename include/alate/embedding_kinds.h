// Kinds of embeddings: one vector for a text, weights of vocabulary entries, or one vector for each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate {

/// dense: one vector for a text. sparse: a weight for each vocabulary entry, most of them 0 (SPLADE, the lexical
/// weights of bge-m3). multi_vector: a vector for each token, for late interaction (ColBERT).
enum class EmbeddingKind : std::uint8_t { dense, sparse, multi_vector };
/// "dense", "sparse", "multi-vector".
std::string_view to_string(EmbeddingKind kind);
/// The inverse, also for "multi_vector"; nothing for an unknown name.
std::optional<EmbeddingKind> parse_embedding_kind(std::string_view name);

/// A set of kinds.
struct EmbeddingKinds {
  bool dense = false, sparse = false, multi_vector = false;

  static EmbeddingKinds only(EmbeddingKind kind);
  bool has(EmbeddingKind kind) const;
  void add(EmbeddingKind kind);
  /// In the order of the enum.
  std::vector<EmbeddingKind> list() const;
  bool operator==(const EmbeddingKinds&) const = default;
};

/// The weights that are not 0.
struct SparseEmbedding {
  std::vector<std::int32_t> indices;  // vocabulary entries, ascending
  std::vector<float> values;          // their weights
};

/// Embeddings of texts, of the kinds that were asked for; the others are empty. Entry i is of text i, however the texts
/// were batched.
struct KindEmbeddings {
  Tensor dense;                         // f32 [texts, dimensions]
  std::vector<SparseEmbedding> sparse;  // of each text
  std::vector<Tensor> multi_vectors;    // of each text, f32 [vectors, dimensions of a token's vector]
  std::vector<std::size_t> truncated;   // indices of truncated texts, ascending
  std::size_t tokens = 0;               // computed tokens, including special tokens
};

}  // namespace alate
