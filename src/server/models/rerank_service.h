// Reranking for all API families.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/models/model_call.h"
#include "server/route.h"

namespace alate::server {

struct RerankRequest : ModelRequest {
  std::string query;
  std::vector<std::string> texts;
  bool raw_scores = false;  // as in RerankOptions
};

struct RerankAnswer : ModelAnswer {
  std::vector<float> scores;  // in the order of the texts
};

/// Scores the texts and answers with the result of `format`, plus X-Model-Fingerprint; errors get the format of the
/// call's family: Problem::impossible for a model that is no reranker. `format` is as in `embed`.
void rerank(Call& call, RerankRequest request, std::function<Response(RerankAnswer)> format);

}  // namespace alate::server
