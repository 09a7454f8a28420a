// Queries and documents as a model for late interaction reads them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/threads/cancellation.h"
#include "pipelines/calls/prepared_rows.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::pipelines {

/// The most tokens of a text of a model that gives a vector for each token. Throws invalid_argument for a max_length
/// that the model cannot meet.
std::size_t late_interaction_length(const EmbeddingPipeline& pipeline, const EmbedOptions& options);

/// As prepare_embedding: marks the texts as queries or documents, puts `prompt` between marker and text, and expands
/// queries. Throws corrupt where the tokenizer lacks the token that expands them. REQUIRES: the model has
/// KindModules::late_interaction.
PreparedRows prepare_late_interaction(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                                      const EmbedOptions& options, const std::string& prompt,
                                      const base::Cancellation& cancellation);

}  // namespace alate::pipelines
