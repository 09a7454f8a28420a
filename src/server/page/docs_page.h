// GET /docs: a web page that shows /openapi.json and sends requests, all of it in one answer.
#pragma once

#include <string_view>

#include "server/http/http_message.h"

namespace alate::server {

/// The page for a server whose routes begin with `base_path` ("" or "/something"). Its Content-Security-Policy allows
/// the page's own style and script, requests to this server, and nothing else.
Response docs_page(std::string_view base_path);

}  // namespace alate::server
