// Reranking by late interaction: a vector for each token of the query and of each text, compared by MaxSim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "pipelines/rerank/rerank_run.h"

namespace alate::pipelines {

class LateInteractionRun final : public RerankRun {
 public:
  /// As begin_rerank. REQUIRES: the pipeline's State::embedding. Throws unsupported for windows.
  LateInteractionRun(const RerankPipeline& pipeline, std::string_view query, std::vector<std::string_view> texts,
                     RerankOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override;
  std::string excess() const override;

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  float scaled(float sum, std::size_t query_vectors) const;

  EmbeddingPipeline pipeline_;
  std::string query_;
  std::vector<std::string_view> texts_;
  RerankOptions options_;
  EmbedOptions query_options_, text_options_;
  std::vector<std::vector<std::int32_t>> ids_;  // of each row, the query's first
};

}  // namespace alate::pipelines
