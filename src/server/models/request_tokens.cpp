#include "server/models/request_tokens.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/exchange/refuse.h"
#include "server/models/request_limits.h"

namespace alate::server {
namespace {

void check_ids(const EmbedRequest& request, std::size_t input, std::int64_t vocabulary) {
  const std::vector<std::int32_t>& row = request.token_rows[input];
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] >= 0 && row[j] < vocabulary) continue;
    refuse(Problem::Kind::impossible,
           place_of_input(request, input) + "[" + std::to_string(j) + "] is " + std::to_string(row[j]) +
               "; the model's token ids are 0 to " + std::to_string(vocabulary - 1),
           request.parameter);
  }
}

pipelines::PreparedRows prepared_ids(const EmbeddingPipeline& pipeline, const EmbedRequest& request,
                                     const EmbedOptions& options) {
  const std::int64_t vocabulary = pipelines::pipeline_for(pipeline, options.task).model().state().limits().vocabulary;
  for (std::size_t i = 0; i < request.token_rows.size(); ++i) check_ids(request, i, vocabulary);
  return pipelines::prepare_framed_ids(pipeline, request.token_rows, options);
}

}  // namespace

pipelines::PreparedRows prepare_request(const EmbeddingPipeline& pipeline, const EmbedRequest& request,
                                        const EmbedOptions& options, const base::Cancellation& cancellation) {
  const std::vector<std::string_view> texts(request.texts.begin(), request.texts.end());
  return request.token_rows.empty()
             ? pipelines::prepare_embedding(pipeline, texts, options, cancellation, kRequestLimits)
             : prepared_ids(pipeline, request, options);
}

}  // namespace alate::server
