// A line of the log for each request: who, what, how long; never a text, a header's value or a key.
#pragma once

#include <string_view>

#include "server/http/request_handler.h"

namespace alate::server {

/// Writes the event "request" at level info. `route` is the path of the table, or "unknown": then the request's own
/// path is shown, shortened and without its query. Thread-safe.
void log_access(const Served& served, std::string_view route);

}  // namespace alate::server
