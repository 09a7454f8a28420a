// The rows of the route table, family by family.
#pragma once

#include <vector>

#include "server/exchange/route.h"

namespace alate::server {

// Each is defined in the file named after it.
std::vector<Route> native_routes();
std::vector<Route> openai_routes();
std::vector<Route> anthropic_routes();
std::vector<Route> tei_routes();
std::vector<Route> cohere_routes();
std::vector<Route> jina_routes();
std::vector<Route> ollama_routes();
std::vector<Route> kserve_routes();
std::vector<Route> operations_routes();

}  // namespace alate::server
