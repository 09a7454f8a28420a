// Loading of embedders by the verbs that make vectors: one rule for what an embedder is, and --force.
#pragma once

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::app {

void declare_force(Arguments& arguments, bool& forces);

/// For pipelines::load_embedding, which refuses models that are for something else unless it is forced.
pipelines::EmbeddingRequest embedding_request(const CommonOptions& options, bool forces);

}  // namespace alate::app
