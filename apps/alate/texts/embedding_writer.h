// Writes embeddings in the formats that a user may choose.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding_kinds.h"
#include "alate/tensor.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/on_error.h"
#include "formats/json.h"

namespace alate::app {

/// What is known of an answer before its first embedding.
struct EmbeddingJob {
  std::string model;
  EmbeddingKinds kinds;
  std::size_t numbers = 0;  // of each dense vector, or its bytes where numbers are bits
  DType dtype = DType::f32;
  std::optional<std::size_t> texts;  // absent: not known before the last
  // Of an output that an earlier run has begun, and the texts that it has already; not for json.
  bool is_begun = false;
  std::size_t done = 0;
};

/// Information in the answer besides the embeddings.
struct EmbeddingTotals {
  std::int64_t load_ns = 0;
  std::int64_t total_ns = 0;
  std::size_t tokens = 0;
  std::optional<formats::Json> profile;
};

/// The members that a line of jsonl has of its own.
std::vector<std::string_view> embedding_members(const EmbeddingKinds& kinds);

/// Takes the result in parts and writes each at once, so that a long job need not fit in memory. Kept until `finish`
/// are: in json what comes after the dense vectors; safetensors of other kinds than dense; npy and safetensors to a
/// pipe where the number of texts is not known.
class EmbeddingWriter {
 public:
  virtual ~EmbeddingWriter() = default;
  /// `first` is the index of the part's first text in the whole job; `part.truncated` is relative to it. Dense vectors
  /// may have EmbeddingJob::dtype. `members` has for each text what its object gets besides embedding_members, as
  /// InputText::members; only jsonl writes it. `refused` are the lines that were skipped between the texts: jsonl has
  /// an error in the place of each.
  virtual void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string> members,
                   std::span<const RefusedLine> refused) = 0;
  /// Writes the remainder. Call once, after all parts; finishing the output is up to the caller.
  virtual void finish(const EmbeddingTotals& totals) = 0;
};

/// Throws unsupported for a format that has no place for the kinds.
void require_format(OutputFormat format, const EmbeddingKinds& kinds);

/// May write the beginning of the answer. Throws as require_format.
std::unique_ptr<EmbeddingWriter> make_embedding_writer(OutputFormat format, Output& output, const EmbeddingJob& job);

}  // namespace alate::app
