// POST /api/pull: fetches a model from the hub and tells how far it has come.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route ollama_pull_route();

}  // namespace alate::server
