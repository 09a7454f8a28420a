#include "alate/embedding_kinds.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace alate {
namespace {

constexpr std::array kAll = {EmbeddingKind::dense, EmbeddingKind::sparse, EmbeddingKind::multi_vector};

}  // namespace

std::string_view to_string(EmbeddingKind kind) {
  switch (kind) {
    case EmbeddingKind::dense: return "dense";
    case EmbeddingKind::sparse: return "sparse";
    case EmbeddingKind::multi_vector: break;
  }
  return "multi-vector";
}

std::optional<EmbeddingKind> parse_embedding_kind(std::string_view name) {
  if (name == "multi_vector") return EmbeddingKind::multi_vector;
  for (const EmbeddingKind kind : kAll) {
    if (name == to_string(kind)) return kind;
  }
  return {};
}

EmbeddingKinds EmbeddingKinds::only(EmbeddingKind kind) {
  EmbeddingKinds kinds;
  kinds.add(kind);
  return kinds;
}

bool EmbeddingKinds::has(EmbeddingKind kind) const {
  switch (kind) {
    case EmbeddingKind::dense: return dense;
    case EmbeddingKind::sparse: return sparse;
    case EmbeddingKind::multi_vector: break;
  }
  return multi_vector;
}

void EmbeddingKinds::add(EmbeddingKind kind) {
  switch (kind) {
    case EmbeddingKind::dense: dense = true; return;
    case EmbeddingKind::sparse: sparse = true; return;
    case EmbeddingKind::multi_vector: multi_vector = true; return;
  }
}

std::vector<EmbeddingKind> EmbeddingKinds::list() const {
  std::vector<EmbeddingKind> kinds;
  for (const EmbeddingKind kind : kAll) {
    if (has(kind)) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace alate
