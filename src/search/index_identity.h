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

/// How passages and questions are embedded: with the model's prompts for each, to length 1.
EmbedOptions passage_options();
EmbedOptions question_options();

}  // namespace alate::search
