// Answers in the format of Hugging Face's text-embeddings-inference.
#pragma once

#include <string>
#include <string_view>

#include "alate/tokenizer.h"
#include "formats/json.h"
#include "pipelines/tasks/tasks.h"
#include "server/exchange/itemized_body.h"
#include "server/exchange/route.h"
#include "server/models/embed_task.h"

namespace alate::server {

/// The model in the path, or else the one in the body.
std::string tei_model_of(const Call& call);

/// Reads "truncate" and "truncation_direction", which most routes have; `options` is the object that contains them.
void read_tei_truncation(const formats::Json& options, ModelRequest& request);

/// Only the vectors: [[…], …].
ItemizedBody tei_vectors(EmbedAnswer answer);

/// Of vectors per token, a list for each text: [[[…], …], …].
ItemizedBody tei_token_vectors(EmbedAnswer answer);

/// Of sparse embeddings, the weights of each text: [[{"index": 7, "value": 0.5}, …], …].
ItemizedBody tei_sparse(EmbedAnswer answer);

/// Cosine similarity of the first vector to each of the others: [0.5, …]. A zero vector has similarity 0 to everything.
std::string tei_similarities(const EmbedAnswer& answer);

/// Appends a text's tokens: [{"id", "text", "special", "start", "stop"}, …]. start and stop are byte offsets into
/// `text`, null for special tokens. "text" is the token's name for special tokens, else the corresponding part of
/// `text`.
void append_tei_tokens(std::string& out, const Encoding& encoding, std::string_view text);

}  // namespace alate::server
