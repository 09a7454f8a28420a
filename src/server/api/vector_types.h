// Vectors as JSON, in the types that APIs name: Cohere's embedding_types, Jina's embedding_type, OpenAI's
// encoding_format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"

namespace alate::server {

/// Appends the row as a JSON array of numbers, in the shortest form that round-trips; used for "embeddings" by all
/// families.
void append_vector(std::string& out, std::span<const float> row);
/// The same in another precision: the integers that quantize_embeddings makes of the row.
void append_vector(std::string& out, std::span<const float> row, Precision precision);
/// Appends {"indices": […], "values": […]}.
void append_sparse(std::string& out, const SparseEmbedding& sparse);

/// Appends the row as a JSON value. "float": its numbers; "base64": text with its float32 numbers, low byte first;
/// "int8", "uint8", "binary", "ubinary": the integers that quantize_embeddings makes of it.
void append_vector_as(std::string& out, std::span<const float> row, std::string_view type);

}  // namespace alate::server
