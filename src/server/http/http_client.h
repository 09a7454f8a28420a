// A minimal client that sends one request to an Alate server, for commands such as `alate ps`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/exchange/http_message.h"

namespace alate::server {

/// A server's address.
struct ClientTarget {
  std::string host = "127.0.0.1";
  std::uint16_t port = 11433;
  bool tls = false;
  std::string authorities_file{};  // PEM; empty: the system's certificate authorities
  bool insecure = false;           // accepts any certificate
  std::string unix_socket{};       // a path, instead of host and port
};

/// "http://host:port", "https://[::1]:8443", "host:port", "host", or "unix:/run/alate.sock"; a trailing path is an
/// error. Errors: invalid_argument.
ClientTarget parse_client_target(std::string_view text);
/// "http://127.0.0.1:11433", for messages.
std::string to_string(const ClientTarget& target);

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;  // at most 64 MiB
};

/// Connects, sends the request, waits for the whole answer, and closes. Adds Host, Connection and Content-Length.
/// Blocks for at most `timeout`. Errors, naming the address: unavailable if nothing answers there or the peer does not
/// speak HTTP; deadline_exceeded; resource_exhausted for an answer that is too large; not_found and corrupt for the
/// certificate authorities file. Any status code is an answer, not an error.
ClientResponse http_request(const ClientTarget& target, std::string_view method, std::string_view path,
                            const Headers& headers, std::string_view body, std::chrono::nanoseconds timeout);

}  // namespace alate::server
