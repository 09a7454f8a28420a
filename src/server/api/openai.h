// Answers in the format of OpenAI's API.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "server/exchange/itemized_body.h"
#include "server/models/embed_task.h"

namespace alate::server {

/// The body of an answer to POST /v1/embeddings. `model` is the name given in the request; empty: the model's own.
/// `type` is as in append_vector_as.
ItemizedBody openai_embedding_list(EmbedAnswer answer, std::string_view model, std::string_view type);

/// An entry of GET /v1/models.
formats::Json openai_model(const ModelListing& listing);

}  // namespace alate::server
