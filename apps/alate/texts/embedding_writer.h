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

#include "alate/embedding.h"
#include "alate/tensor.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/on_error.h"
#include "formats/json.h"

namespace alate::app {

/// What is known of an answer before its first vector.
struct EmbeddingJob {
  std::string model;
  std::size_t numbers = 0;  // of each vector, or its bytes where numbers are bits
  DType dtype = DType::f32;
  std::optional<std::size_t> texts;  // absent: not known before the last
  // Of an output that an earlier run has begun, and the texts that it has already; not for json.
  bool is_begun = false;
  std::size_t done = 0;
};

/// Information in the answer besides the vectors.
struct EmbeddingTotals {
  std::int64_t load_ns = 0;
  std::int64_t total_ns = 0;
  std::size_t tokens = 0;
  std::optional<formats::Json> profile;
};

/// Appends the members of a json answer that come after its embeddings; `truncated` has the indices of cut texts.
void append_totals(std::string& out, const EmbeddingTotals& totals, std::span<const std::size_t> truncated);

/// The members that a line of jsonl has of its own.
inline constexpr std::array<std::string_view, 3> kEmbeddingMembers = {"index", "embedding", "truncated"};

/// Takes the result in parts and writes each at once, so that a long job need not fit in memory; only npy and
/// safetensors to a pipe keep the vectors until `finish` where the number of texts is not known.
class EmbeddingWriter {
 public:
  virtual ~EmbeddingWriter() = default;
  /// `first` is the index of the part's first text in the whole job; `part.truncated` is relative to it. `members` has
  /// for each text what its object gets besides kEmbeddingMembers, as InputText::members; only jsonl writes it.
  /// `refused` are the lines that were skipped between the texts: jsonl has an error in the place of each.
  virtual void add(const Embeddings& part, std::size_t first, std::span<const std::string> members,
                   std::span<const RefusedLine> refused) = 0;
  /// Writes the remainder. Call once, after all parts; finishing the output is up to the caller.
  virtual void finish(const EmbeddingTotals& totals) = 0;
};

/// May write the beginning of the answer.
std::unique_ptr<EmbeddingWriter> make_embedding_writer(OutputFormat format, Output& output, const EmbeddingJob& job);

}  // namespace alate::app
