// Answers of Hugging Face's text-embeddings-inference, in its words.
#pragma once

#include <string>
#include <string_view>

#include "alate/tokenizer.h"
#include "formats/json.h"
#include "server/itemized_body.h"
#include "server/models/embed_service.h"

namespace alate::server {

/// The vectors alone: [[…], …].
ItemizedBody tei_vectors(EmbedAnswer answer);

/// The cosines of the first vector with each other one: [0.5, …]. A vector of zeros is like nothing: 0.
std::string tei_similarities(const EmbedAnswer& answer);

/// Appends a text's tokens: [{"id", "text", "special", "start", "stop"}, …]. start and stop are bytes of `text`, null
/// for special tokens, whose text is the token's name; that of the others is the part of `text`.
void append_tei_tokens(std::string& out, const Encoding& encoding, std::string_view text);

}  // namespace alate::server
