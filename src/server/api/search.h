// Search in the native format.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_search_route();

}  // namespace alate::server
