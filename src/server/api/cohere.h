// Answers of Cohere's API, in its words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/itemized_body.h"
#include "server/vector_rows.h"

namespace alate::server {

/// round(x · 127) of the vector scaled to length 1: -127 to 127. Zeros stay zeros.
std::vector<std::int8_t> quantize_int8(std::span<const float> row);

/// A bit for each number, 1 where it is above 0, eight to a byte with the first in the highest bit; the last byte is
/// filled with zeros. "binary" has these bytes less 128, as sentence-transformers' quantize_embeddings packs them.
std::vector<std::uint8_t> pack_signs(std::span<const float> row);

/// Adds the vectors as `type` (float, int8, uint8, binary, ubinary, base64): a JSON array with one entry a row. They
/// are held, which the body is not told.
void add_cohere_embeddings(ItemizedBody& body, const VectorRows& vectors, std::string_view type);

/// 122 random bits as RFC 9562 writes them (version 4).
std::string random_uuid();

}  // namespace alate::server
