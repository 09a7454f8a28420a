// Answers in JSON.
#pragma once

#include <string>

#include "formats/json.h"
#include "server/exchange/http_message.h"

namespace alate::server {

/// A JSON answer with status 200.
Response json_response(const formats::Json& body);
Response json_response(std::string text);

}  // namespace alate::server
