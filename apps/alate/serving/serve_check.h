// What can be wrong with settings that are right by themselves: files, models and backends that are not there.
#pragma once

#include <vector>

#include "alate/error.h"
#include "server/settings/settings.h"

namespace alate::app {

/// Everything that would keep a server with these settings from working as they say. Reads files, opens no socket and
/// loads no model.
std::vector<Error> problems_of(const server::Settings& settings);

}  // namespace alate::app
