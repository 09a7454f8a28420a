// Loading and unloading of models by name.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

Route native_load_route();
Route native_unload_route();

}  // namespace alate::server
