// GET /docs: a self-contained web page that shows /openapi.json and sends requests.
#pragma once

#include <string_view>

#include "server/exchange/http_message.h"

namespace alate::server {

/// The page for a server whose routes begin with `base_path` ("" or "/something"). Its Content-Security-Policy allows
/// only the page's own style and script and requests to this server.
Response docs_page(std::string_view base_path);

}  // namespace alate::server
