// POST /v1/completions.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route openai_completions_route();

}  // namespace alate::server
