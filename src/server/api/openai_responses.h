// POST /v1/responses and /v1/responses/input_tokens.
#pragma once

#include <vector>

#include "server/exchange/route.h"

namespace alate::server {

std::vector<Route> openai_responses_routes();

}  // namespace alate::server
