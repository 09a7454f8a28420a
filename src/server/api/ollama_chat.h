// POST /api/chat of Ollama.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route ollama_chat_route();

}  // namespace alate::server
