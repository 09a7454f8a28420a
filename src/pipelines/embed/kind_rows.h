// The stages of EmbeddingPipeline::embed_kinds one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/embedding_kinds.h"
#include "pipelines/embed/embedding_rows.h"
#include "runtime/batching/batch_program.h"
#include "runtime/loading/entry_point.h"

namespace alate::pipelines {

/// Makes embeddings of an entry point's numbers. Refers to the pipeline.
class KindReader {
 public:
  /// Compiles the entry point at the kinds' first use. Throws as require_kinds and EmbeddingPipeline::embed.
  KindReader(const EmbeddingPipeline& pipeline, const EmbeddingKinds& kinds, const EmbedOptions& options);

  const std::shared_ptr<const runtime::EntryPoint>& entry_point() const { return entry_point_; }

  /// Reads the numbers of the next row, whose token ids are `ids`.
  void add(std::span<const std::int32_t> ids, std::span<const float> values);
  /// What was read, without `truncated` and `tokens`; the reader is then as new.
  KindEmbeddings take();

 private:
  SparseEmbedding from_vocabulary(std::span<const float> weights) const;
  SparseEmbedding from_codes(std::span<const float> codes) const;
  SparseEmbedding from_tokens(std::span<const std::int32_t> ids, std::span<const float> weights) const;
  Tensor vectors_of(std::span<const std::int32_t> ids, std::span<const float> values) const;

  const EmbeddingPipeline& pipeline_;
  EmbeddingKinds kinds_;
  EmbedOptions options_;
  std::shared_ptr<const runtime::EntryPoint> entry_point_;
  std::vector<std::int32_t> left_out_;  // tokens without a weight, ascending
  std::vector<std::int32_t> skipped_;   // tokens without a vector, ascending
  bool is_static_ = false;              // the weights of tokens come from a table
  std::size_t rows_ = 0;
  std::vector<float> dense_;
  std::vector<SparseEmbedding> sparse_;
  std::vector<Tensor> multi_vectors_;
};

/// Throws invalid_argument where long texts are to be read in windows, which only dense vectors can be.
void require_no_windows(const EmbedOptions& options);

}  // namespace alate::pipelines
