// Extraction by a schema.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_extract_route();

}  // namespace alate::server
