// Origin of a request.
#pragma once

#include "server/exchange/http_message.h"

namespace alate::server {

/// Whether the client is on the server's own machine: it connected through the Unix socket or from a loopback address,
/// and sends no header by which a proxy marks a forwarded request.
bool is_on_this_machine(const Request& request);

}  // namespace alate::server
