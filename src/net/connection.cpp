#include "net/connection.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "alate/error.h"

namespace alate::net {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};  // at whether a stop was requested

std::string system_message(int error) { return std::generic_category().message(error); }

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};

}  // namespace

Connection::Connection(const Endpoint& endpoint, Patience patience)
    : name_(endpoint.name), patience_(std::move(patience)) {
  std::string problem;
  if (endpoint.unix_socket.empty()) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int result = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
    if (result != 0) fail(::gai_strerror(result));
    const std::unique_ptr<addrinfo, FreeAddresses> owner(found);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      problem = try_address(each->ai_family, each->ai_addr, each->ai_addrlen);
      if (problem.empty()) break;
    }
  } else {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (endpoint.unix_socket.size() >= sizeof address.sun_path) fail("the path is too long");
    std::memcpy(address.sun_path, endpoint.unix_socket.c_str(), endpoint.unix_socket.size());
    problem = try_address(AF_UNIX, &address, sizeof address);
  }
  if (!problem.empty()) fail(problem);
  stream_ = make_socket_stream(socket_.number());
}

void Connection::start_tls(const std::string& host, const TlsTrust& trust) {
  stream_ = connect_tls(std::move(stream_), host, trust);
}

void Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const IoResult result = stream_->write(bytes, {});
    bytes.remove_prefix(result.bytes);
    if (result.status == IoStatus::wants_read) {
      wait(POLLIN);
    } else if (result.status == IoStatus::wants_write) {
      wait(POLLOUT);
    } else if (result.status != IoStatus::done) {
      return;
    }
  }
}

std::size_t Connection::read(std::span<char> into) {
  for (;;) {
    const IoResult result = stream_->read(into);
    if (result.status == IoStatus::done) return result.bytes;
    if (result.status == IoStatus::ended) return 0;
    if (result.status == IoStatus::wants_read) {
      wait(POLLIN);
    } else if (result.status == IoStatus::wants_write) {
      wait(POLLOUT);
    } else {
      const std::string problem = stream_->problem();
      fail(problem.empty() ? "it closed the connection" : problem);
    }
  }
}

void Connection::fail(std::string_view why) const {
  throw make_error(ErrorCode::unavailable, "cannot talk to ", name_, ": ", why);
}

// Empty if the socket is connected, otherwise the reason.
std::string Connection::try_address(int family, const void* address, std::size_t bytes) {
  socket_ = Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) return system_message(errno);
  if (::connect(socket_.number(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(bytes)) == 0) return {};
  if (errno != EINPROGRESS) return system_message(errno);
  wait(POLLOUT);
  int problem = 0;
  socklen_t size = sizeof problem;
  if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
  return problem == 0 ? std::string() : system_message(problem);
}

void Connection::wait(short events) const {
  const auto deadline = (patience_.is_total ? begin_ : std::chrono::steady_clock::now()) + patience_.timeout;
  for (;;) {
    if (patience_.stop.stop_requested())
      throw make_error(ErrorCode::cancelled, "the transfer from ", name_, " was stopped");
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    if (patience_.stop.stop_possible()) left = std::min(left, kBetweenLooks);
    pollfd entry = {socket_.number(), events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
  }
  if (patience_.is_total) throw make_error(ErrorCode::deadline_exceeded, name_, " did not answer in time");
  throw make_error(ErrorCode::deadline_exceeded, name_, " did not answer for ",
                   std::chrono::duration_cast<std::chrono::seconds>(patience_.timeout).count(), " s: try again later");
}

}  // namespace alate::net
