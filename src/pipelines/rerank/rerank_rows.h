// The stages of RerankPipeline::rerank one by one, for code that batches the texts of many callers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "alate/rerank.h"
#include "backends/backend.h"
#include "pipelines/prepared_rows.h"
#include "pipelines/text_model.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_form.h"

namespace alate {

struct RerankPipeline::State : pipelines::TextModel {};

}  // namespace alate

namespace alate::pipelines {

/// The output "logits": of a model with one label its logit; of one with two, how far the second's is above the
/// first's, whose sigmoid is the second's probability. Throws unsupported for more. Refers to `model`.
runtime::Head rerank_head(const Model::State& model);

/// The reranker of a loaded model, compiled at the model's first such call. Throws unsupported as RerankPipeline::load.
RerankPipeline reranker_of(TextModel model);

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
