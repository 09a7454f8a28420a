// Answers in the format of Cohere's API.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/itemized_body.h"
#include "server/vector_rows.h"

namespace alate::server {

/// round(x · 127) of the vector normalized to length 1: -127 to 127. Zero vectors stay zero.
std::vector<std::int8_t> quantize_int8(std::span<const float> row);

/// One bit per number, 1 if it is positive, packed eight to a byte with the first in the most significant bit; the last
/// byte is padded with zeros. "binary" is these bytes minus 128, as packed by sentence-transformers'
/// quantize_embeddings.
std::vector<std::uint8_t> pack_signs(std::span<const float> row);

/// Adds the vectors as `type` (float, int8, uint8, binary, ubinary, base64): a JSON array with one entry per row. The
/// items keep the vectors alive; accounting them with `body.hold` is left to the caller.
void add_cohere_embeddings(ItemizedBody& body, const VectorRows& vectors, std::string_view type);

/// A random UUID (RFC 9562, version 4) with 122 random bits.
std::string random_uuid();

}  // namespace alate::server
