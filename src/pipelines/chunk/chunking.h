// The stages of Chunker one by one, for code that runs the model's rows itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/chunk.h"
#include "alate/tensor.h"
#include "pipelines/chunk/packing.h"
#include "pipelines/chunk/pieces.h"
#include "pipelines/chunk/token_map.h"

namespace alate::pipelines {

/// Throws invalid_argument for options that cannot be met.
void check_chunk_options(const ChunkOptions& options);

/// Chunks by every method but semantic and classifier. The options have been checked.
PackedChunks plan_chunks(const TokenMap& map, const ChunkOptions& options);

/// The sentences of a text that has tokens.
struct Sentences {
  std::vector<Piece> pieces;
  std::vector<std::string_view> texts;  // slices of the text
};
Sentences sentences_of(const TokenMap& map);

/// The method semantic: `vectors`, f32 [sentences, dimensions], have length 1.
PackedChunks plan_semantic_chunks(const TokenMap& map, Sentences sentences, std::span<const float> vectors,
                                  const ChunkOptions& options);

/// The method classifier: a chunk begins at each of these bytes, which ascend.
PackedChunks plan_divided_chunks(const TokenMap& map, std::span<const std::size_t> starts, const ChunkOptions& options);

/// The chunks' places; their texts are empty.
Chunks place_chunks(const TokenMap& map, const PackedChunks& packed);
/// The same with their texts, which are counted before they are cut. Throws resource_exhausted.
Chunks cut_chunks(const TokenMap& map, const PackedChunks& packed);
/// The bytes of their texts.
std::size_t bytes_of_chunks(const TokenMap& map, const PackedChunks& packed);

}  // namespace alate::pipelines
