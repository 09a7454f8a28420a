// Reranking by a model that reads each text together with the query: a cross-encoder, or a language model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/rerank/rerank_run.h"

namespace alate::pipelines {

class PairRun final : public RerankRun {
 public:
  /// As begin_rerank.
  PairRun(RerankPipeline pipeline, std::string_view query, std::vector<std::string_view> texts, RerankOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override;
  std::string excess() const override;

 private:
  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  /// For all texts, each read with so many bytes.
  void require_room(std::size_t with_each) const;
  void require_room_for_windows(const base::Cancellation& cancellation) const;
  void require_pooled_prompt() const;
  bool is_activated() const;

  RerankPipeline pipeline_;
  std::string query_, prompt_;
  std::vector<std::string_view> texts_;
  RerankOptions options_;
};

}  // namespace alate::pipelines
