// An encoder with the outputs of several kinds of embeddings.
#pragma once

#include <memory>
#include <string_view>

#include "alate/embedding_kinds.h"
#include "pipelines/modules/kind_modules.h"
#include "pipelines/modules/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// What is computed for a row: the outputs of the kinds in the enum's order. dense: [sequences, dimensions]; sparse:
/// weights of the vocabulary [sequences, vocabulary] by SPLADE, else of tokens [tokens, 1]; multi-vector: [tokens,
/// width]. Texts of a task may have weights of tokens where others have SPLADE's. REQUIRES: the modules give the kinds.
/// `normalize` is for dense vectors. Of dense vectors only, it is embedding_entry_point. Throws as that, and
/// unsupported for a file without what a kind needs.
std::shared_ptr<const runtime::EntryPoint> kind_entry_point(const Model::State& model, const EmbeddingModules& dense,
                                                            const KindModules& modules, const EmbeddingKinds& kinds,
                                                            bool normalize, std::string_view task = {},
                                                            std::string_view adapter = {});

/// Goes as far as kind_entry_point does without compiling, and throws as it.
void check_kinds(const Model::State& model, const EmbeddingModules& dense, const KindModules& modules,
                 const EmbeddingKinds& kinds, bool normalize);

}  // namespace alate::pipelines
