// Serialization of an answer's head.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/exchange/http_message.h"

namespace alate::server {

/// What the connection adds to an answer's own headers.
struct ResponseFrame {
  std::string_view request_id;
  bool close = false;                // Connection: close
  bool announce_keep_alive = false;  // Connection: keep-alive, which HTTP/1.0 needs
  bool chunked = false;              // Transfer-Encoding: chunked, for a body of unknown size
};

/// Status line, headers and the empty line. Content-Length is the size of the body, also for HEAD; bodies of unknown
/// size and statuses without a body (204, 304) have none. Headers of `response` that belong to the transport
/// (Content-Length, Date …) or have an invalid name are dropped; control characters in values become spaces, to prevent
/// header injection.
std::string response_head(const Response& response, const ResponseFrame& frame);

/// Whether answers with this status have a body.
bool status_has_body(int status);

/// 32 random hexadecimal digits: unique, not secret. Thread-safe.
std::string new_request_id();
/// Whether a client-supplied request id may appear in logs and headers: 1 to 128 of A-Z a-z 0-9 . _ -
bool valid_request_id(std::string_view id);

}  // namespace alate::server
