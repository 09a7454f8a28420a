#include "search/question_vectors.h"

#include "alate/error.h"
#include "pipelines/embed/embed_run.h"

namespace alate::search {

KindEmbeddings embed_for_index(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                               const EmbeddingKinds& kinds, const EmbedOptions& options,
                               const backends::RunOptions& run) {
  return pipelines::embed_texts(pipeline, texts, kinds, options, run);
}

EmbeddingKinds kinds_of_mode(const IndexFile& index, const std::optional<SearchMode>& mode) {
  const EmbeddingKinds has{.dense = index.has_dense(), .sparse = index.has_sparse()};
  if (!mode) return has;
  const EmbeddingKinds wanted{.dense = *mode != SearchMode::sparse, .sparse = *mode != SearchMode::dense};
  if ((wanted.dense && !has.dense) || (wanted.sparse && !has.sparse))
    throw make_error(ErrorCode::invalid_argument, "the index has only ", has.dense ? "dense" : "sparse",
                     " vectors; leave the mode ", to_string(*mode), " out, or build it with a model that gives both");
  return wanted;
}

}  // namespace alate::search
