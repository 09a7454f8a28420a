#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "net/stream.h"

namespace alate::net {
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
      error_ = got < 0 ? errno : 0;
      if (got > 0) return {IoStatus::done, static_cast<std::size_t>(got)};
      if (got == 0) return {IoStatus::ended};
      if (error_ != EINTR) return {would_block(error_) ? IoStatus::wants_read : IoStatus::failed};
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
      error_ = sent < 0 ? errno : 0;
      if (sent > 0) return {IoStatus::done, static_cast<std::size_t>(sent)};
      if (error_ != EINTR) return {would_block(error_) ? IoStatus::wants_write : IoStatus::failed};
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

  std::string problem() const override { return error_ == 0 ? std::string() : std::generic_category().message(error_); }

 private:
  int descriptor_;
  int error_ = 0;  // of the last call
};

}  // namespace

std::unique_ptr<Stream> make_socket_stream(int descriptor) { return std::make_unique<SocketStream>(descriptor); }

}  // namespace alate::net
