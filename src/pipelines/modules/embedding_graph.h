// The modules that follow an encoder, as graph ops.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "graph/builder.h"
#include "models/encoder.h"
#include "pipelines/modules/modules.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// The value `name` that modules make after the encoder. REQUIRES: require_inputs of them has it.
graph::Value chain_value(graph::Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                         const TransformerSettings& transformer, std::span<const ChainModule> modules,
                         std::string_view name);

/// The vectors of texts [sequences, dimensions]; `normalize` overrules the folder's last step.
graph::Value sentence_embedding(graph::Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                                const EmbeddingModules& modules, bool normalize);

/// Adds the output "sentence_embedding" of embedding_entry_point. Refers to `modules`.
runtime::Head embedding_head(const EmbeddingModules& modules, bool normalize);

/// The encoder followed by pooling and the modules' steps; its one output is "sentence_embedding" [sequences,
/// dimensions]. `normalize` overrules the folder's last step; `adapter` is as in runtime::GraphRequest. Throws as
/// Model::State::entry_point, and for weights of Dense modules that are missing.
std::shared_ptr<const runtime::EntryPoint> embedding_entry_point(const Model::State& model,
                                                                 const EmbeddingModules& modules, bool normalize,
                                                                 std::string_view adapter = {});

}  // namespace alate::pipelines
