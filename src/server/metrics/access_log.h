// Access log, one line per request: client, route, duration; never texts, header values or keys.
#pragma once

#include <string_view>

#include "server/http/request_handler.h"

namespace alate::server {

/// Writes the event "request" at level info. `route` is a path of the route table, or "unknown": then the request's own
/// path is logged, shortened and without its query. Thread-safe.
void log_access(const Served& served, std::string_view route);

}  // namespace alate::server
