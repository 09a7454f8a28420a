// Texts as the vectors of an index.
#pragma once

#include <span>
#include <string_view>

#include "alate/embedding.h"
#include "alate/search.h"
#include "backends/backend.h"
#include "search/index_file.h"

namespace alate::search {

/// The weights that a passage or a question keeps of a sparse vector, the largest: more than models that are trained to
/// be sparse give, so that another masked language model does not fill the disk.
inline constexpr std::size_t kMostSparseWeights = 1024;

/// Embeddings of these kinds, as all of an index and its questions are made. Throws as EmbeddingPipeline::embed_kinds.
KindEmbeddings embed_for_index(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                               const EmbeddingKinds& kinds, const EmbedOptions& options,
                               const backends::RunOptions& run);

/// What the mode compares of an index; without one, all that it has. Throws invalid_argument for a mode that it cannot
/// have.
EmbeddingKinds kinds_of_mode(const IndexFile& index, const std::optional<SearchMode>& mode);

}  // namespace alate::search
