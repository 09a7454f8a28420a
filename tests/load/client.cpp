#include "tests/load/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace alate::load {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

void pause(int milliseconds) {
  if (milliseconds > 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::size_t content_length(const std::string& head) {
  const std::size_t at = head.find("Content-Length: ");
  if (at == std::string::npos) throw std::runtime_error("the answer has no Content-Length");
  return std::stoul(head.substr(at + 16, 20));
}

}  // namespace

std::string Client::request(std::string_view method, std::string_view path, std::string_view body,
                            std::string_view headers) {
  std::string text(method);
  text.append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\n").append(headers);
  if (!body.empty() && headers.find("Content-Type: ") == std::string_view::npos)
    text.append("Content-Type: application/json\r\n");
  if (!body.empty()) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return text.append("\r\n").append(body);
}

void Client::connect() {
  close();
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (!source_.empty()) {
    ::inet_pton(AF_INET, source_.c_str(), &address.sin_addr);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail("bind");
  }
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail("connect");
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const timeval patience{.tv_sec = patience_.count() / 1000, .tv_usec = patience_.count() % 1000 * 1000};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

void Client::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  buffer_.clear();
}

void Client::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close();
}

void Client::send(std::string_view bytes, std::size_t piece, int pause_ms) {
  while (!bytes.empty()) {
    const std::size_t wanted = piece > 0 && piece < bytes.size() ? piece : bytes.size();
    const ssize_t sent = ::send(socket_, bytes.data(), wanted, MSG_NOSIGNAL);
    // A server may answer before it has read all, and close when it has thrown away enough: the answer is still to be
    // read.
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
    if (sent < 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (!bytes.empty()) pause(pause_ms);
  }
}

Answer Client::receive(int pause_ms) {
  std::array<char, 65536> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const auto read_more = [&] {
    pause(pause_ms);
    const ssize_t got = ::recv(socket_, chunk.data(), pause_ms > 0 ? 2048 : chunk.size(), 0);
    if (got < 0) fail("recv");
    if (got == 0) throw std::runtime_error("the server closed the connection before it had answered");
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  };
  Answer answer;
  std::size_t end = 0;
  do {
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) read_more();
    answer.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    if (!answer.head.starts_with("HTTP/1.1 ")) throw std::runtime_error("the answer is no HTTP/1.1");
    answer.status = std::stoi(answer.head.substr(9, 3));
  } while (answer.status == 100);
  if (answer.head.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos) {
    for (std::size_t size = 1; size > 0;) {
      while ((end = buffer_.find("\r\n")) == std::string::npos) read_more();
      size = std::stoul(buffer_.substr(0, end), nullptr, 16);
      while (buffer_.size() < end + 2 + size + 2) read_more();
      answer.body.append(buffer_, end + 2, size);
      buffer_.erase(0, end + 2 + size + 2);
    }
    return answer;
  }
  const std::size_t length = answer.status == 204 ? 0 : content_length(answer.head);
  while (buffer_.size() < length) read_more();
  answer.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return answer;
}

Answer Client::exchange(std::string_view bytes) {
  if (socket_ < 0) connect();
  send(bytes);
  return receive();
}

}  // namespace alate::load
