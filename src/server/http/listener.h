// Sockets that listen: TCP on an address or a name, or a Unix socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/descriptor.h"

namespace alate::server {

struct Accepted {
  Descriptor socket;  // non-blocking, closed on exec
  std::string peer;   // the address without its port, or "unix"
};

enum class AcceptStatus {
  accepted,
  none,       // nobody waits
  exhausted,  // the process or the machine has no descriptor or memory for one more: try again later
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

/// Listens on every address meant by `host`: an address, "localhost" (both loopback addresses, where there are both,
/// on one port), or another name. Port 0 takes one that is free. Errors: invalid_argument for a host that is not of
/// this machine, or a port that is not allowed; unavailable for one that is in use.
std::vector<std::unique_ptr<Listener>> listen_tcp(const std::string& host, std::uint16_t port);

/// A socket file that nothing listens on any more is replaced; the new one is for this user alone (mode 0600) and is
/// removed with the listener. Errors: invalid_argument for a path that cannot be one; unavailable when another server
/// listens there.
std::unique_ptr<Listener> listen_unix(const std::string& path);

}  // namespace alate::server
