// What the bodies of OpenAI's generating routes have in common.
#pragma once

#include <string>

#include "formats/json.h"
#include "server/models/generation_call.h"

namespace alate::server {

/// model, stream, keep_alive. `parameter` is the member that has the texts.
GenerationRequest begin_generation(const formats::Json& body, std::string parameter);

/// Whether a stream ends with what it took: stream_options.include_usage.
bool wants_usage(const formats::Json& body);

/// The tier that an answer repeats: "flex", for which a request gives way to others, or "default" where it asked for
/// any other; empty where it named none.
std::string service_tier_of(const formats::Json& body);

}  // namespace alate::server
