// The modules that follow an encoder, as graph ops.
#pragma once

#include <memory>

#include "pipelines/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// The encoder followed by pooling and the modules' steps; its one output is "sentence_embedding" [sequences,
/// dimensions]. `normalize` overrules the folder's last step. Throws as Model::State::entry_point, and for weights of
/// Dense modules that are missing.
std::shared_ptr<const runtime::EntryPoint> embedding_entry_point(const Model::State& model,
                                                                 const EmbeddingModules& modules, bool normalize);

/// Goes as far as embedding_entry_point does without compiling, and throws as it: Model::State::check.
void check_embedding(const Model::State& model, const EmbeddingModules& modules, bool normalize);

}  // namespace alate::pipelines
