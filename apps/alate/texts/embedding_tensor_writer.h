// Embeddings as files of tensors.
#pragma once

#include <memory>

#include "apps/alate/output.h"
#include "apps/alate/texts/embedding_writer.h"
#include "formats/tensor_file.h"

namespace alate::app {

/// Dense vectors as one tensor, "embeddings" [texts, numbers].
std::unique_ptr<EmbeddingWriter> make_dense_tensor_writer(formats::TensorFileKind kind, Output& output,
                                                          const EmbeddingJob& job);

/// A safetensors file with the tensors of each kind. "embeddings" as above. Sparse: "sparse_indices" i32 [weights],
/// "sparse_values" f32 [weights], and "sparse_starts" i64 [texts + 1], where text i has the weights from start i up to
/// start i + 1. Multi-vector: "multi_vectors" f32 [vectors, width] and "multi_vector_starts" i64 [texts + 1]. All of it
/// is kept until `finish`.
std::unique_ptr<EmbeddingWriter> make_kind_tensor_writer(Output& output, const EmbeddingJob& job);

}  // namespace alate::app
