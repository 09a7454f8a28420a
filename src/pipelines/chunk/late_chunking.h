// Late chunking: rows of a whole text, and vectors of its chunks from those of its tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "alate/tensor.h"
#include "pipelines/chunk/packing.h"
#include "pipelines/chunk/token_map.h"
#include "runtime/batching/batch_program.h"

namespace alate::pipelines {

/// Throws unsupported for a model whose chunks' vectors cannot be pooled from tokens', and invalid_argument for options
/// that it cannot meet.
void check_late_chunking(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// The rows of a text for the entry point EmbeddingPipeline::State::token_entry_point.
class LateText {
 public:
  /// `ids` are the text's tokens, without special ones. Throws invalid_argument where the model has no room for a text.
  LateText(const EmbeddingPipeline& pipeline, std::span<const std::int32_t> ids, const EmbedOptions& options);

  const std::vector<runtime::BatchRow>& rows() const { return rows_; }
  /// The vector of each chunk, [chunks, dimensions], from the values of the rows, one after the other.
  Tensor vectors_of(const EmbeddingPipeline& pipeline, std::span<const TokenRange> chunks,
                    std::span<const float> values, const EmbedOptions& options) const;

 private:
  // A row that has the text's tokens from `first`; its vectors stand for those up to `end`.
  struct Window {
    std::size_t first = 0, end = 0;
    std::size_t place = 0;  // of the vector of `first`, among the vectors of all rows
  };

  std::vector<runtime::BatchRow> rows_;
  std::vector<Window> windows_;
};

/// The text's chunks; with the method semantic, sentences are compared by such vectors. `values` are as above.
PackedChunks plan_late_chunks(const EmbeddingPipeline& pipeline, const TokenMap& map, const LateText& late,
                              std::span<const float> values, const ChunkOptions& options);

}  // namespace alate::pipelines
