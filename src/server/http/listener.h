// Listening sockets: TCP on an address or a name, or a Unix socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/descriptor.h"

namespace alate::server {

struct Accepted {
  net::Descriptor socket;  // non-blocking, close-on-exec
  std::string peer;        // the address without its port, or "unix"
};

enum class AcceptStatus {
  accepted,
  none,       // no connection is pending
  exhausted,  // the process or the system is out of descriptors or memory: try again later
};

/// Not thread-safe.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual int descriptor() const = 0;
  virtual std::string address() const = 0;  // "127.0.0.1:80", "[::1]:80", or a path
  virtual std::uint16_t port() const = 0;   // 0: a Unix socket
  virtual AcceptStatus accept(Accepted& into) = 0;
};

/// Listens on every address that `host` stands for: an address, "localhost" (both loopback addresses if both exist, on
/// the same port), or another name. Port 0 picks a free one. Errors: invalid_argument for a host that is not local, or
/// a port that is not permitted; unavailable for one in use.
std::vector<std::unique_ptr<Listener>> listen_tcp(const std::string& host, std::uint16_t port);

/// Replaces a stale socket file. The new one is accessible only to this user (mode 0600) and is removed with the
/// listener. Errors: invalid_argument for an unusable path; unavailable if another server listens there.
std::unique_ptr<Listener> listen_unix(const std::string& path);

}  // namespace alate::server
