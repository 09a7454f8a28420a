#include "server/models/rerank_service.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "pipelines/rerank/rerank_run.h"
#include "server/exchange/refuse.h"
#include "server/models/request_limits.h"

namespace alate::server {
namespace {

// The query, with its prompt, is tokenized with each text.
std::size_t query_bytes(const RerankRequest& request) {
  return request.query.size() + (request.options.prompt ? request.options.prompt->size() : 0);
}

void check_query(const RerankRequest& request) {
  std::size_t bytes = query_bytes(request) * std::max<std::size_t>(request.texts.size(), 1);
  for (const std::string& text : request.texts) bytes += text.size();
  if (bytes <= kRequestLimits.read_bytes) return;
  refuse(Problem::Kind::too_large,
         "query has " + std::to_string(query_bytes(request)) + " bytes, with its prompt, and is read with each of " +
             std::to_string(request.texts.size()) + " texts, " + std::to_string(bytes) +
             " bytes in all; this route takes " + std::to_string(kRequestLimits.read_bytes) +
             ": shorten the query, or send fewer texts",
         "query");
}

LongTextOptions long_texts_of(const RerankRequest& request) {
  LongTextOptions options = request.options.long_texts;
  if (options.treatment) return options;
  if (!request.truncate) {
    options.treatment = LongTexts::error;
  } else if (request.truncation_side) {
    options.treatment = *request.truncation_side == Side::left ? LongTexts::cut_left : LongTexts::cut;
  }
  return options;
}

}  // namespace

void rerank(Call& call, RerankRequest request, std::function<Response(const RerankAnswer&)> format) {
  check_query(request);
  RerankOptions options = request.options;
  options.long_texts = long_texts_of(request);
  request.text_bytes = query_bytes(request);
  std::string query = std::move(request.query);
  run_task(
      call, std::move(request),
      [query = std::move(query), options = std::move(options)](const pipelines::TaskPipelines& pipelines,
                                                               std::vector<std::string_view> texts) {
        return pipelines::begin_rerank(pipelines.reranker(), query, std::move(texts), options);
      },
      [format = std::move(format)](TaskAnswer& answer) {
        const auto& run = static_cast<pipelines::RerankRun&>(*answer.run);
        return format({.task = answer, .scores = run.scores(), .raw_scores = run.raw_scores()});
      });
}

}  // namespace alate::server
