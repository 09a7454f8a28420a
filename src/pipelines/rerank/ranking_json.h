// The answer of POST /api/rerank, which is also that of `alate rerank --output json`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "pipelines/calls/answer_json.h"

namespace alate::pipelines {

struct Ranking {
  std::span<const float> scores;      // in the order of the texts
  std::span<const float> raw_scores;  // as in best_first
  std::optional<std::size_t> count;   // of results; absent: all
  AnswerFacts facts;
  std::map<std::size_t, std::string> errors = {};  // as JSON, by the index of each text that has no score
};

/// {"model": …, "scores": […], "results": [{"index": …, "relevance_score": …}, …], …}, the best result first. Texts
/// without a score have their errors among the scores, and no result.
std::string ranking_json(const Ranking& ranking);

}  // namespace alate::pipelines
