// Answers of Ollama's API, in its words.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "server/models/embed_service.h"
#include "server/models/model_host.h"

namespace alate::server {

/// How many parameters a model has, as Ollama shows it: "22.7M", "1.3B"; empty for 0.
std::string parameter_size(std::size_t parameters);

/// An entry of GET /api/tags.
formats::Json ollama_tag(const ModelListing& listing);

/// What is told of a loaded model beside its facts.
struct OllamaRun {
  std::optional<std::chrono::system_clock::time_point> expires;  // none: stays
  std::size_t bytes = 0;
  runtime::BatchScheduler::Depth queue;
  Fingerprint fingerprint = {};
};

/// An entry of GET /api/ps, with our own facts behind Ollama's.
formats::Json ollama_process(const ModelListing& listing, const ModelFacts& facts, const OllamaRun& run);

/// The answer to POST /api/show. `config` is the model's config.json, null where it cannot be read.
formats::Json ollama_show(const ModelListing& listing, const formats::Json& config);

/// The body of an answer to POST /api/embeddings: the first vector, or none.
std::string ollama_embedding(const EmbedAnswer& answer);

}  // namespace alate::server
