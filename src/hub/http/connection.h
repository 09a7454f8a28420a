// A connection to a web server, with TLS for https addresses, through the proxy that the environment names.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "hub/http/http_url.h"

namespace alate::hub {

/// Calls block for at most the connection's timeout, and throw cancelled soon after a stop was requested. Not
/// thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Writes all bytes. Throws unavailable, deadline_exceeded.
  virtual void write(std::string_view bytes) = 0;
  /// Reads at least one byte, or none at the end. Throws unavailable (also for a truncated TLS stream),
  /// deadline_exceeded.
  virtual std::size_t read(std::span<char> into) = 0;
};

/// The server's certificate must be for the host, and signed by an authority that the machine trusts (SSL_CERT_FILE and
/// SSL_CERT_DIR work as in OpenSSL). HTTPS_PROXY, HTTP_PROXY and NO_PROXY are honoured, in upper or lower case.
/// `is_proxied` is set for an http address behind a proxy, whose request needs the absolute URL. Throws unavailable
/// naming the host and the reason, deadline_exceeded, cancelled.
std::unique_ptr<Connection> connect_to(const HttpUrl& url, std::chrono::milliseconds timeout, bool& is_proxied,
                                       std::stop_token stop = {});

/// The proxy for an address according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY; empty: none.
std::string proxy_for(const HttpUrl& url);

/// "Basic …" of RFC 7617 for credentials.
std::string basic_authorization(std::string_view credentials);

}  // namespace alate::hub
