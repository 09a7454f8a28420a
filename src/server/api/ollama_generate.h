// POST /api/generate as Ollama's clients ask it: a prompt that is continued.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

/// Answers a body that fits the schema "generate_body" of Ollama's routes. A body without a prompt loads the model, or
/// unloads it where its keep_alive is 0.
void generate_as_ollama(Call& call);

}  // namespace alate::server
