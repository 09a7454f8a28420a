#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "server/http/stream.h"

namespace alate::server {
namespace {

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

iovec piece(std::string_view bytes) {
  // sendmsg does not write through this pointer.
  return {const_cast<char*>(bytes.data()), bytes.size()};
}

class SocketStream final : public Stream {
 public:
  explicit SocketStream(int descriptor) : descriptor_(descriptor) {}

  IoResult read(std::span<char> into) override {
    for (;;) {
      const ssize_t got = ::recv(descriptor_, into.data(), into.size(), 0);
      if (got > 0) return {IoStatus::done, static_cast<std::size_t>(got)};
      if (got == 0) return {IoStatus::ended};
      if (errno != EINTR) return {would_block(errno) ? IoStatus::wants_read : IoStatus::failed};
    }
  }

  IoResult write(std::string_view head, std::string_view body) override {
    std::array<iovec, 2> pieces = {piece(head), piece(body)};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    for (;;) {
      // A disconnected client is an error here, not a signal to the whole process.
      const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
      if (sent > 0) return {IoStatus::done, static_cast<std::size_t>(sent)};
      if (sent < 0 && errno == EINTR) continue;
      return {sent < 0 && would_block(errno) ? IoStatus::wants_write : IoStatus::failed};
    }
  }

  void finish_writing() override { ::shutdown(descriptor_, SHUT_WR); }

  IoResult discard(std::span<char> into) override { return read(into); }

  PeerState peer() override {
    pollfd entry = {descriptor_, POLLRDHUP, 0};
    if (::poll(&entry, 1, 0) <= 0) return PeerState::there;
    if ((entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return PeerState::gone;
    return (entry.revents & POLLRDHUP) != 0 ? PeerState::half_closed : PeerState::there;
  }

 private:
  int descriptor_;
};

}  // namespace

std::unique_ptr<Stream> make_socket_stream(int descriptor) { return std::make_unique<SocketStream>(descriptor); }

}  // namespace alate::server
