// Writes embeddings of several kinds, or of kinds other than dense.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "alate/embedding_kinds.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/embedding_writer.h"
#include "apps/alate/texts/on_error.h"

namespace alate::app {

/// The members that a line of jsonl has of its own.
inline constexpr std::array<std::string_view, 5> kKindMembers = {"index", "embedding", "sparse_embedding",
                                                                 "multi_vector", "truncated"};

/// Takes the result in parts and writes each at once; json holds what comes after the dense vectors until `finish`.
class KindWriter {
 public:
  virtual ~KindWriter() = default;
  /// As EmbeddingWriter::add.
  virtual void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string> members,
                   std::span<const RefusedLine> refused) = 0;
  /// Writes the remainder. Call once, after all parts.
  virtual void finish(const EmbeddingTotals& totals) = 0;
};

/// Throws unsupported for a format that has no place for the kinds.
void require_format(OutputFormat format, const EmbeddingKinds& kinds);

/// May write the beginning of the answer.
std::unique_ptr<KindWriter> make_kind_writer(OutputFormat format, Output& output, const EmbeddingKinds& kinds,
                                             const std::string& model);

}  // namespace alate::app
