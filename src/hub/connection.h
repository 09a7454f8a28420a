// A connection to a web server, with TLS where the address asks for it and through the proxy that the environment
// names.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hub/http_url.h"

namespace alate::hub {

/// Calls block for at most the timeout that the connection was made with. Not thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;
  /// All of it. Throws unavailable, deadline_exceeded.
  virtual void write(std::string_view bytes) = 0;
  /// At least one byte, or none at the end. Throws unavailable (a TLS stream that is cut off too), deadline_exceeded.
  virtual std::size_t read(std::span<char> into) = 0;
};

/// The server's certificate must be for the host, and signed by an authority that the machine trusts (SSL_CERT_FILE and
/// SSL_CERT_DIR as OpenSSL reads them). HTTPS_PROXY, HTTP_PROXY and NO_PROXY in either case are honoured. An http
/// address that goes through a proxy needs a request with the whole address: `is_proxied` says so.
/// Throws unavailable naming the host and why, deadline_exceeded.
std::unique_ptr<Connection> connect_to(const HttpUrl& url, std::chrono::milliseconds timeout, bool& is_proxied);

/// The proxy for an address as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; empty: none.
std::string proxy_for(const HttpUrl& url);

/// "Basic …" of RFC 7617 for credentials.
std::string basic_authorization(std::string_view credentials);

}  // namespace alate::hub
