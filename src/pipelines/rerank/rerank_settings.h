// What a folder says of reranking besides its weights, as sentence-transformers' CrossEncoder reads it.
#pragma once

#include <string>

#include "pipelines/modules/prompts.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

struct RerankSettings {
  Prompts prompts;
  std::string activation = "Sigmoid";  // the class of torch.nn that makes scores of logits
};

/// Reads config.json, and config_sentence_transformers.json where there is one. Throws corrupt as read_prompts.
RerankSettings read_rerank_settings(const Model::State& model);

}  // namespace alate::pipelines
