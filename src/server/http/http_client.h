// One request to a server of ours, for commands such as `alate ps`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace alate::server {

/// Where a server listens.
struct ClientTarget {
  std::string host = "127.0.0.1";
  std::uint16_t port = 11433;
  bool tls = false;
  std::string authorities_file{};  // PEM; empty: those that the machine trusts
  bool insecure = false;           // whether any certificate will do
  std::string unix_socket{};       // a path, instead of host and port
  std::string source_address{};    // of this machine, to connect from; empty: any
};

/// "http://host:port", "https://[::1]:8443", "host:port", "host", or "unix:/run/alate.sock"; a path behind it is an
/// error. Errors: invalid_argument.
ClientTarget parse_client_target(std::string_view text);
/// "http://127.0.0.1:11433", for messages.
std::string to_string(const ClientTarget& target);

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;  // at most 64 MiB
};

/// Connects, asks, waits for the whole answer, and closes. Host, Connection and Content-Length are added. Blocks for at
/// most `timeout`. Errors, naming the address: unavailable when nobody answers there or it is no HTTP;
/// deadline_exceeded; resource_exhausted for an answer that is too large; not_found and corrupt for the file of
/// authorities. Any status is an answer, not an error.
ClientResponse http_request(const ClientTarget& target, std::string_view method, std::string_view path,
                            const Headers& headers, std::string_view body, std::chrono::nanoseconds timeout);

}  // namespace alate::server
