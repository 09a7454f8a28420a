// The inputs of a request as rows of token ids.
#pragma once

#include "base/threads/cancellation.h"
#include "pipelines/embed/embedding_rows.h"
#include "server/models/embed_service.h"

namespace alate::server {

/// Tokenizes the texts, or adds the model's special tokens to token ids that lack them, and cuts rows to the model's
/// length. Throws RequestError for ids outside the vocabulary, and cancelled.
pipelines::PreparedRows prepare_request(const EmbeddingPipeline& pipeline, const EmbedRequest& request,
                                        const EmbedOptions& options, const base::Cancellation& cancellation);

}  // namespace alate::server
