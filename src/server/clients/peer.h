// Where a request comes from.
#pragma once

#include "server/http/http_message.h"

namespace alate::server {

/// Whether the client is on the server's own machine: it came by the Unix socket or from a loopback address, and shows
/// no header by which a proxy says that it hands on the request of somebody else.
bool is_on_this_machine(const Request& request);

}  // namespace alate::server
