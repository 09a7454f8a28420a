// What a model is, in the format of Ollama's POST /api/show.
#pragma once

#include <string>

#include "alate/sampling.h"
#include "formats/json.h"
#include "generation/config/generation_config.h"
#include "server/models/model_host.h"

namespace alate::server {

/// What the files of a model's folder say beside its listing.
struct ModelTexts {
  formats::Json config = {};  // config.json, or what a GGUF says in its place; null if it cannot be read
  // Of language models:
  std::string chat_template = {};
  generation::GenerationConfig generation = {};
};

/// Reads files; those that cannot be read leave their members empty.
ModelTexts read_model_texts(const ModelListing& listing);

/// The answer to POST /api/show.
formats::Json ollama_show(const ModelListing& listing, const ModelTexts& texts);

}  // namespace alate::server
