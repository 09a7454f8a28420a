// Chunks as JSON, for POST /api/chunk and `alate chunk`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "alate/chunk.h"

namespace alate::pipelines {

/// Appends the members of a chunk's object after its brace: "id", "text", "start_char", "end_char", "byte_start",
/// "byte_end", "tokens" and, unless `vector` is empty, "embedding". `text` is the chunk's.
void append_chunk_members(std::string& out, std::size_t id, const Chunk& chunk, std::string_view text,
                          std::span<const float> vector = {});

/// The body of POST /api/chunk in parts: this, the chunks with commas between them, and what ends it. `vectors`, f32
/// [chunks, dimensions], may be null.
inline constexpr std::string_view kChunksBegin = "{\"chunks\":[";
void append_chunk(std::string& out, std::size_t id, const Chunk& chunk, std::string_view text, const Tensor* vectors);
std::string chunks_end(const Chunks& chunks, std::string_view model);

/// The same as one text, of chunks with their texts.
std::string chunks_json(const Chunks& chunks, const Tensor* vectors, std::string_view model);

}  // namespace alate::pipelines
