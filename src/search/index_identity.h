// What the vectors of an index depend on.
#pragma once

#include <string>

#include "alate/chunk.h"
#include "alate/embedding.h"

namespace alate::search {

/// Of passages' vectors: weights, type and backend, the contents of the folder's settings and tokenizer, and how texts
/// are embedded. Vectors of equal identities may be compared.
std::string vector_identity(const EmbeddingPipeline& pipeline);

/// How texts are cut.
std::string chunk_identity(const ChunkOptions& options);

/// Of sparse vectors, the same: what they depend on besides. Empty where the model gives none.
std::string sparse_identity(const EmbeddingPipeline& pipeline);

/// Of all that an index depends on.
std::string index_identity(const EmbeddingPipeline& pipeline, const ChunkOptions& chunk);

/// How passages and questions are embedded: with the model's prompts for each, to length 1.
EmbedOptions passage_options();
EmbedOptions question_options();

}  // namespace alate::search
