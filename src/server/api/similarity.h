// Comparison of texts, natively; that of text-embeddings-inference is in tei_routes.cpp.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_similarity_route();

}  // namespace alate::server
