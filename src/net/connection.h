// A blocking connection of a client to a server, with or without TLS.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "net/descriptor.h"
#include "net/stream.h"
#include "net/tls.h"

namespace alate::net {

/// Where a server listens.
struct Endpoint {
  std::string name;  // in messages
  std::string host = {};
  std::uint16_t port = 0;
  std::string unix_socket = {};  // a path, instead of host and port
};

/// How long a client waits for a server.
struct Patience {
  std::chrono::milliseconds timeout{60000};
  bool is_total = false;      // for the connection's whole life; otherwise for each time without progress
  std::stop_token stop = {};  // looked at while waiting
};

/// Not thread-safe. All calls throw unavailable, naming the endpoint and the reason, deadline_exceeded, and cancelled
/// soon after a stop was requested.
class Connection {
 public:
  Connection(const Endpoint& endpoint, Patience patience);

  /// Continues with TLS, for a server whose certificate is valid for `host`. Throws also not_found and corrupt for the
  /// file of `trust`.
  void start_tls(const std::string& host, const TlsTrust& trust = {});
  /// Writes all bytes. A server may refuse a request without reading all of it, so a connection that breaks meanwhile
  /// is no error here: `read` gives the answer that is already there, or throws.
  void write(std::string_view bytes);
  /// Reads at least one byte, or none at the end; throws for an end without TLS's own notice.
  std::size_t read(std::span<char> into);

  [[noreturn]] void fail(std::string_view why) const;
  const std::string& name() const { return name_; }
  const Patience& patience() const { return patience_; }

 private:
  std::string try_address(int family, const void* address, std::size_t bytes);
  void wait(short events) const;

  std::string name_;
  Patience patience_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Descriptor socket_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace alate::net
