#include "server/http/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"

namespace alate::server {
namespace {

constexpr int kBacklog = 1024;
// Between the two calls another program may take the port on the second address.
constexpr int kPortTries = 8;

std::string system_text(int error) { return std::generic_category().message(error); }

// An address of any family. Only this class uses the family-specific types.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool is_v6() const { return storage.ss_family == AF_INET6; }

  void set_port(std::uint16_t port) {
    if (is_v6()) {
      reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
    } else {
      reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
    }
  }

  std::uint16_t port() const {
    return ntohs(is_v6() ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                         : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }

  std::string host() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_v6()) {
      const auto& address = reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr;
      // An IPv4 client on a dual-stack socket.
      if (IN6_IS_ADDR_V4MAPPED(&address)) {
        ::inet_ntop(AF_INET, address.s6_addr + 12, text.data(), text.size());
      } else {
        ::inet_ntop(AF_INET6, &address, text.data(), text.size());
      }
    } else {
      ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text.data(), text.size());
    }
    return text.data();
  }

  std::string text() const {
    const std::string port_text = ":" + std::to_string(port());
    return is_v6() ? "[" + host() + "]" + port_text : host() + port_text;
  }
};

AcceptStatus accept_from(int listening, net::Descriptor& socket, SocketAddress& address) {
  for (;;) {
    address.size = sizeof address.storage;
    net::Descriptor accepted(::accept4(listening, address.data(), &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted) {
      socket = std::move(accepted);
      return AcceptStatus::accepted;
    }
    switch (errno) {
      case EAGAIN: return AcceptStatus::none;
      // This client has already gone, or the network reported an error: try the next one.
      case EINTR:
      case ECONNABORTED:
      case EPROTO:
      case EPERM:
      case ENETDOWN:
      case ENETUNREACH:
      case EHOSTDOWN:
      case EHOSTUNREACH: break;
      default: return AcceptStatus::exhausted;
    }
  }
}

class TcpListener final : public Listener {
 public:
  TcpListener(net::Descriptor socket, const SocketAddress& address) : socket_(std::move(socket)), address_(address) {}

  int descriptor() const override { return socket_.number(); }
  std::string address() const override { return address_.text(); }
  std::uint16_t port() const override { return address_.port(); }

  AcceptStatus accept(Accepted& into) override {
    SocketAddress peer;
    const AcceptStatus status = accept_from(socket_.number(), into.socket, peer);
    if (status != AcceptStatus::accepted) return status;
    into.peer = peer.host();
    const int on = 1;
    ::setsockopt(into.socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return status;
  }

 private:
  net::Descriptor socket_;
  SocketAddress address_;
};

class UnixListener final : public Listener {
 public:
  UnixListener(net::Descriptor socket, std::string path, const struct stat& file)
      : socket_(std::move(socket)), path_(std::move(path)), device_(file.st_dev), inode_(file.st_ino) {}

  ~UnixListener() override {
    // Unless the file has been replaced.
    struct stat file {};
    if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) ::unlink(path_.c_str());
  }

  int descriptor() const override { return socket_.number(); }
  std::string address() const override { return path_; }
  std::uint16_t port() const override { return 0; }

  AcceptStatus accept(Accepted& into) override {
    SocketAddress peer;
    into.peer = "unix";
    return accept_from(socket_.number(), into.socket, peer);
  }

 private:
  net::Descriptor socket_;
  std::string path_;
  dev_t device_;
  ino_t inode_;
};

net::Descriptor new_socket(int family, const std::string& address) {
  net::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    const ErrorCode code = errno == EAFNOSUPPORT ? ErrorCode::unsupported : ErrorCode::unavailable;
    throw make_error(code, "cannot listen on ", address, ": ", system_text(errno));
  }
  return socket;
}

[[noreturn]] void fail_to_bind(const std::string& address, int error) {
  switch (error) {
    case EADDRINUSE:
      throw make_error(ErrorCode::unavailable, address, " is in use: stop the program that listens there, or choose ",
                       "another port");
    case EACCES:
      throw make_error(ErrorCode::invalid_argument, "no permission to listen on ", address,
                       ": choose a port from 1024 up");
    case EADDRNOTAVAIL:
      throw make_error(ErrorCode::invalid_argument, "cannot listen on ", address,
                       ": this machine has no such address; 127.0.0.1 is for this machine alone, 0.0.0.0 for all");
    default: throw make_error(ErrorCode::unavailable, "cannot listen on ", address, ": ", system_text(error));
  }
}

std::unique_ptr<Listener> listen_on(SocketAddress address) {
  const std::string text = address.text();
  net::Descriptor socket = new_socket(address.storage.ss_family, text);
  const int on = 1;
  // Allows restarts without waiting for old connections to time out.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.number(), address.data(), address.size) != 0 || ::listen(socket.number(), kBacklog) != 0)
    fail_to_bind(text, errno);
  address.size = sizeof address.storage;
  if (::getsockname(socket.number(), address.data(), &address.size) != 0) fail_to_bind(text, errno);
  return std::make_unique<TcpListener>(std::move(socket), address);
}

std::vector<SocketAddress> resolve(const std::string& host) {
  std::string name = host;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (result != 0)
    throw make_error(ErrorCode::invalid_argument, "host '", host,
                     "' is no address of this machine: ", ::gai_strerror(result));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    address.size = each->ai_addrlen;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  return addresses;
}

// Some systems list only one of them under the name, and some cannot use the one they list.
std::vector<std::unique_ptr<Listener>> listen_loopback(std::uint16_t port) {
  for (int attempt = 1;; ++attempt) {
    std::vector<std::unique_ptr<Listener>> listeners;
    SocketAddress first = resolve("127.0.0.1").front();
    first.set_port(port);
    listeners.push_back(listen_on(first));
    SocketAddress second = resolve("::1").front();
    second.set_port(listeners.front()->port());
    try {
      listeners.push_back(listen_on(second));
    } catch (const Error& error) {
      const bool taken = error.code() == ErrorCode::unavailable;
      if (taken && port != 0) throw;
      if (taken && attempt < kPortTries) continue;
    }
    return listeners;
  }
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw make_error(ErrorCode::invalid_argument, "unix socket ", path, ": the path must have 1 to ",
                     sizeof address.sun_path - 1, " bytes");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

bool somebody_listens(const sockaddr_un& address, const std::string& path) {
  const net::Descriptor probe = new_socket(AF_UNIX, path);
  if (::connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  return errno != ECONNREFUSED;
}

void remove_stale(const sockaddr_un& address, const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return;
  if (!S_ISSOCK(file.st_mode))
    throw make_error(ErrorCode::invalid_argument, "unix socket ", path,
                     ": a file that is no socket is there; choose another path");
  if (somebody_listens(address, path))
    throw make_error(ErrorCode::unavailable, path, " is in use: stop the server that listens there, or choose ",
                     "another path");
  ::unlink(path.c_str());
}

}  // namespace

std::vector<std::unique_ptr<Listener>> listen_tcp(const std::string& host, std::uint16_t port) {
  if (host == "localhost") return listen_loopback(port);
  std::vector<std::unique_ptr<Listener>> listeners;
  for (SocketAddress& address : resolve(host)) {
    // If a name has several addresses, they share the port of the first.
    address.set_port(listeners.empty() ? port : listeners.front()->port());
    listeners.push_back(listen_on(address));
  }
  return listeners;
}

std::unique_ptr<Listener> listen_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  remove_stale(address, path);
  net::Descriptor socket = new_socket(AF_UNIX, path);
  // Nobody can connect before listen, so the file is never accessible to others.
  struct stat file {};
  if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::lstat(path.c_str(), &file) != 0 ||
      ::listen(socket.number(), kBacklog) != 0)
    throw make_error(ErrorCode::invalid_argument, "cannot listen on ", path, ": ", system_text(errno));
  return std::make_unique<UnixListener>(std::move(socket), path, file);
}

}  // namespace alate::server
