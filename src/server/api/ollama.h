// Answers in the format of Ollama's API.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "server/models/embed_task.h"
#include "server/models/model_host.h"

namespace alate::server {

/// Number of parameters in Ollama's notation: "22.7M", "1.3B"; empty for 0.
std::string parameter_size(std::size_t parameters);

/// What "model" names or, of older clients, "name"; of clients that send both, one may be empty. Empty where the body
/// has neither. Throws RequestError where all that it has is empty.
std::string ollama_model_of(const formats::Json& body);

/// What listings say of a model's files.
formats::Json ollama_details(const ModelListing& listing);

/// An entry of GET /api/tags.
formats::Json ollama_tag(const ModelListing& listing);

/// Runtime state of a loaded model, in addition to its facts.
struct OllamaRun {
  std::optional<std::chrono::system_clock::time_point> expires;  // none: never
  std::size_t bytes = 0;
  runtime::BatchScheduler::Depth queue;
  Fingerprint fingerprint = {};
};

/// An entry of GET /api/ps, with Alate's own fields after Ollama's.
formats::Json ollama_process(const ModelListing& listing, const ModelFacts& facts, const OllamaRun& run);

/// The body of an answer to POST /api/embeddings: the first vector, if any.
std::string ollama_embedding(const EmbedAnswer& answer);

}  // namespace alate::server
