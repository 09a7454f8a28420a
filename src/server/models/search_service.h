// Search over the indexes that the settings name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "alate/search.h"
#include "server/exchange/route.h"
#include "server/models/index_host.h"
#include "server/models/model_call.h"

namespace alate::server {

struct SearchRequest : ModelRequest {  // an empty model: the one that the index was made with
  std::string index;
  std::string question;
  std::string rerank_model;  // empty: the order of the vectors
  SearchOptions options;
};

struct SearchAnswer {
  const HostedIndex& index;
  const ModelAnswer& model;               // that read the question
  const ModelAnswer* reranker = nullptr;  // that ordered the passages; null: none did
  std::vector<SearchResult> results;
};

/// Searches and answers with the result of `format`, plus the X-Model-Fingerprint of the index's model and the
/// X-Rerank-Model-Fingerprint of the reranker; the
/// question, and with a reranker the best passages, go through the models' schedulers. Errors get the format of the
/// call's family; Problem::impossible for a model that the index was not made with. `format` is as in run_task.
void search_index(Call& call, SearchRequest request, std::function<Response(SearchAnswer)> format);

}  // namespace alate::server
