// Answers of Alate's own routes, which Ollama's and Termite's clients read too.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "server/itemized_body.h"
#include "server/models/embed_service.h"
#include "server/models/model_host.h"

namespace alate::server {

/// The body of an answer to POST /api/embed. `model` is the name that the request had; empty: the model's own.
ItemizedBody native_embedding_list(EmbedAnswer answer, std::string_view model);

/// The same as bytes, all little endian: u64 rows, u64 dimensions, the float32 vectors.
ItemizedBody embedding_octets(EmbedAnswer answer);

/// Whether an Accept header would rather have application/octet-stream than application/json: it names it with a
/// higher quality, or with the same and first. "*/*" does not name it.
bool prefers_octets(std::string_view accept);

/// The body's "keep_alive", seconds as a number or a duration as text, as ModelHost::touch takes it: -1 ns for what is
/// below 0 and for 50 years and more; nothing where it is absent or null. Throws RequestError for text that is no
/// duration.
std::optional<std::chrono::nanoseconds> read_keep_alive(const formats::Json& body);

/// The answer to GET /api/models.
formats::Json native_model_list(std::span<const ModelListing> listed, std::span<const LoadedListing> loaded);

}  // namespace alate::server
