// The stages of RerankPipeline::rerank one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "alate/embedding.h"
#include "alate/rerank.h"
#include "backends/backend.h"
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

/// The end of the class that config.json names, after the architecture's.
inline constexpr std::string_view kCrossEncoderHead = "ForSequenceClassification";

/// The class that config.json names, or the architecture's base model where it names none; of a model whose
/// architecture is not known, what it is called.
std::string class_of(const Model::State& model);

/// Goes as far as the entry point's compilation, and throws as it: Model::State::check.
void check_rerank(const Model::State& model);
/// What RerankPipeline::load refuses before it chooses a backend. Throws unsupported.
void require_cross_encoder(const Model::State& model);

/// The same loaded model with its other head, over the same weights and tokenizer; compiled at the model's first such
/// call. Throws unsupported as RerankPipeline::load.
RerankPipeline reranker_of(const EmbeddingPipeline& pipeline);

/// RerankPipeline::load.
RerankPipeline load_reranker(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control = {});

/// Tokenizes the query with each of the texts and truncates as in `options`, in parallel on the shared pool. Throws as
/// RerankPipeline::rerank, which asks `cancellation` before each text.
PreparedRows prepare_rerank(const RerankPipeline& pipeline, std::string_view query,
                            std::span<const std::string_view> texts, const RerankOptions& options,
                            const base::Cancellation& cancellation);

/// The scores of prepared rows; `run` is passed to each batch's run, and `computed` is told how many rows it had.
/// Throws as RerankPipeline::rerank.
RerankScores rerank_prepared(const RerankPipeline& pipeline, PreparedRows prepared, const RerankOptions& options,
                             const backends::RunOptions& run, const std::function<void(std::size_t)>& computed = {});

/// Makes scores of the entry point's logits, in place.
void finish_rerank(const RerankOptions& options, std::span<float> logits);

}  // namespace alate::pipelines
