// Requests of Ollama's clients that only load or unload a model.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

/// Loads the model and answers with done_reason "load"; where keep_alive is 0 unloads it, "unload". A model that is not
/// loaded is not loaded for that.
void load_as_ollama(Call& call, bool is_chat);

}  // namespace alate::server
