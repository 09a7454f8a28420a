// Checks that individually valid settings refer to existing files, models and backends.
#pragma once

#include <vector>

#include "alate/error.h"
#include "server/settings/settings.h"

namespace alate::app {

/// Everything that would keep a server with these settings from working as configured. Reads files, but opens no
/// sockets and loads no models.
std::vector<Error> problems_of(const server::Settings& settings);

}  // namespace alate::app
