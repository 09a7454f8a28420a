// Answers in the format of Cohere's API.
#pragma once

#include <string>
#include <string_view>

#include "server/exchange/itemized_body.h"
#include "server/models/vector_rows.h"

namespace alate::server {

/// Adds the vectors as `type` (append_vector_as): a JSON array with one entry per row. The items keep the vectors
/// alive; accounting them with `body.hold` is left to the caller.
void add_cohere_embeddings(ItemizedBody& body, const VectorRows& vectors, std::string_view type);

/// A random UUID (RFC 9562, version 4) with 122 random bits.
std::string random_uuid();

}  // namespace alate::server
