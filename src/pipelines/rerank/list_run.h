// Reranking by a model that reads many texts with their query at once: jina-reranker-v3.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/rerank/list_program.h"
#include "pipelines/rerank/rerank_run.h"

namespace alate::pipelines {

class ListRun final : public RerankRun {
 public:
  /// As begin_rerank.
  ListRun(RerankPipeline pipeline, std::string_view query, std::vector<std::string_view> texts, RerankOptions options);

  std::shared_ptr<const runtime::BatchProgram> program() const override { return program_; }
  std::string excess() const override;

 private:
  /// A text that may have been cut.
  struct Piece {
    std::string text;
    std::size_t tokens = 0;
    bool truncated = false;
  };

  TextRows make_rows(const base::Cancellation& cancellation) override;
  void take(const RowResults& results) override;
  Piece cut(std::string_view text, std::size_t length, const base::Cancellation& cancellation) const;
  std::string read_query(const base::Cancellation& cancellation, std::size_t& tokens, bool& truncated) const;
  void add_rows(const std::string& query, std::span<const std::string> texts, std::span<const std::size_t> inputs,
                TextRows& all, const base::Cancellation& cancellation);
  float scaled(double cosine) const;

  RerankPipeline pipeline_;
  std::string query_, instruction_;
  std::vector<std::string_view> texts_;
  RerankOptions options_;
  std::size_t length_;  // of a text, in tokens
  std::shared_ptr<const ListProgram> program_;
  std::vector<std::vector<std::size_t>> inputs_;  // the texts of each row
};

}  // namespace alate::pipelines
