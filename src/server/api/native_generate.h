// POST /api/generate, also under /ai/v1: an answer to messages as OpenAI has it, to a prompt as Ollama has it.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_generate_route();

}  // namespace alate::server
