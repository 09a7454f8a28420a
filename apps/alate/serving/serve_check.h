// Checks that individually valid settings refer to existing files, models and backends.
#pragma once

#include <vector>

#include "alate/error.h"
#include "runtime/loading/load_request.h"
#include "server/settings/settings.h"

namespace alate::app {

/// Everything that would keep a server with these settings from starting as configured. Reads files, but opens no
/// sockets and loads no models.
std::vector<Error> problems_of(const server::Settings& settings);

/// An error for each model that the settings name, or for the only model there is, that could not be loaded, as
/// pipelines::check_loadable says. Models that do not exist are left to problems_of.
std::vector<Error> unloadable_models(const server::Settings& settings, const runtime::LoadRequest& request);

}  // namespace alate::app
