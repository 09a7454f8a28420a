#include "pipelines/chunk/chunk_json.h"

#include "formats/json.h"

namespace alate::pipelines {

void append_chunk_members(std::string& out, std::size_t id, const Chunk& chunk, std::string_view text,
                          std::span<const float> vector) {
  out += "\"id\":" + std::to_string(id) + ",\"text\":";
  formats::append_json_string(out, text);
  out += ",\"start_char\":" + std::to_string(chunk.start) + ",\"end_char\":" + std::to_string(chunk.end);
  out += ",\"byte_start\":" + std::to_string(chunk.byte_start) + ",\"byte_end\":" + std::to_string(chunk.byte_end);
  out += ",\"tokens\":" + std::to_string(chunk.tokens);
  if (vector.empty()) return;
  out += ",\"embedding\":";
  for (std::size_t i = 0; i < vector.size(); ++i) {
    out += i == 0 ? '[' : ',';
    formats::append_json_number(out, vector[i]);
  }
  out += ']';
}

void append_chunk(std::string& out, std::size_t id, const Chunk& chunk, std::string_view text, const Tensor* vectors) {
  std::span<const float> vector;
  if (vectors != nullptr) {
    const auto width = static_cast<std::size_t>(vectors->extent(1));
    vector = vectors->values<float>().subspan(id * width, width);
  }
  out += '{';
  append_chunk_members(out, id, chunk, text, vector);
  out += '}';
}

std::string chunks_end(const Chunks& chunks, std::string_view model) {
  std::string out = "],\"model\":";
  formats::append_json_string(out, model);
  out += ",\"cache_hit\":false,\"tokens\":" + std::to_string(chunks.tokens) + ",\"truncated\":";
  return out += chunks.truncated ? "true}" : "false}";
}

std::string chunks_json(const Chunks& chunks, const Tensor* vectors, std::string_view model) {
  std::string out(kChunksBegin);
  for (std::size_t i = 0; i < chunks.chunks.size(); ++i) {
    if (i > 0) out += ',';
    append_chunk(out, i, chunks.chunks[i], chunks.chunks[i].text, vectors);
  }
  return out += chunks_end(chunks, model);
}

}  // namespace alate::pipelines
