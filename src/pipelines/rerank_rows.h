// The stages of RerankPipeline::rerank one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "alate/embedding.h"
#include "alate/rerank.h"
#include "pipelines/prepared_rows.h"
#include "runtime/loading/loaded_model.h"

namespace alate {

struct RerankPipeline::State {
  Model model;
  Tokenizer tokenizer;
  std::size_t max_length = 0;

  /// The entry point whose one number of a row is the logit of the pair; compiled at first use.
  std::shared_ptr<const runtime::EntryPoint> entry_point() const;
};

}  // namespace alate

namespace alate::pipelines {

/// The same loaded model with its other head, over the same weights and tokenizer; compiled at the model's first such
/// call. Throws unsupported as RerankPipeline::load.
RerankPipeline reranker_of(const EmbeddingPipeline& pipeline);

/// Tokenizes the query with each of the texts and truncates as in `options`, in parallel on the shared pool. Throws as
/// RerankPipeline::rerank.
PreparedRows prepare_rerank(const RerankPipeline& pipeline, std::string_view query,
                            std::span<const std::string_view> texts, const RerankOptions& options);

/// Makes scores of the entry point's logits, in place.
void finish_rerank(const RerankOptions& options, std::span<float> logits);

}  // namespace alate::pipelines
