// Generated texts as JSON.
#pragma once

#include "alate/generation.h"
#include "formats/json.h"

namespace alate::app {

/// `text` first. Tokens are ids, or with log probabilities objects.
formats::Json::Object generation_json(const Generation& made, const TextGenerator& generator, bool with_logprobs);

}  // namespace alate::app
