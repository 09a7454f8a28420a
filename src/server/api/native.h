// Answers of Alate's own routes, also used by clients of Ollama and Termite.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding_precision.h"
#include "formats/json.h"
#include "server/exchange/itemized_body.h"
#include "server/models/embed_task.h"
#include "server/models/model_host.h"

namespace alate::server {

/// The body of an answer to POST /api/embed, with dense vectors in a precision. `model` is the name given in the
/// request; empty: the model's own.
ItemizedBody native_embedding_list(EmbedAnswer answer, std::string_view model,
                                   Precision precision = Precision::float32);

/// The same in binary, all little-endian: u64 rows, u64 dimensions, the float32 vectors.
ItemizedBody embedding_octets(EmbedAnswer answer);

/// Whether an Accept header prefers application/octet-stream to application/json: it names it with a higher quality, or
/// with the same quality and first. "*/*" does not count as naming it.
bool prefers_octets(std::string_view accept);

/// The "keep_alive" of the body, seconds as a number or a duration as text, in the form that ModelHost::touch takes: -1
/// ns for negative values and for 50 years or more; nothing if absent or null. Throws RequestError for text that is not
/// a duration.
std::optional<std::chrono::nanoseconds> read_keep_alive(const formats::Json& body);

/// The answer to GET /api/models.
formats::Json native_model_list(std::span<const ModelListing> listed, std::span<const LoadedListing> loaded);

}  // namespace alate::server
