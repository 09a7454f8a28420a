// Reranking for all API families.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alate/rerank.h"
#include "server/exchange/route.h"
#include "server/models/task_service.h"

namespace alate::server {

struct RerankRequest : TaskRequest {
  std::string query;
  /// Long texts: `truncate` and `truncation_side` of the request hold where these say nothing.
  RerankOptions options;
};

struct RerankAnswer {
  const TaskAnswer& task;
  const std::vector<float>& scores;      // in the order of the texts; NaN where TaskAnswer::error_of has an error
  const std::vector<float>& raw_scores;  // RerankScores::raw_scores

  /// As best_first of the scores.
  std::vector<std::size_t> best_first(std::optional<std::size_t> count = {}) const {
    return alate::best_first(scores, count, raw_scores);
  }
};

/// Scores the texts and answers with the result of `format`, plus X-Model-Fingerprint; errors get the format of the
/// call's family: Problem::impossible for a model that is no reranker. `format` is as in run_task.
void rerank(Call& call, RerankRequest request, std::function<Response(const RerankAnswer&)> format);

}  // namespace alate::server
