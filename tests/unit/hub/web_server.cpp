#include "tests/unit/hub/web_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace alate::hub {

WebServer::WebServer() {
  listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 8) != 0 ||
      ::getsockname(listener_, generic, &size) != 0)
    throw std::runtime_error("no port to listen on");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

WebServer::~WebServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

void WebServer::put(const std::string& path, std::string answer) {
  const std::lock_guard lock(mutex_);
  answers_[path] = std::move(answer);
}

void WebServer::put_file(const std::string& path, const std::string& type, const std::string& content) {
  put(path, "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(content.size()) +
                "\r\n\r\n" + content);
}

std::vector<std::string> WebServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void WebServer::serve() {
  for (;;) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    std::string head;
    char buffer[4096];
    // A TLS client's greeting begins with 22: it gets an answer that is none.
    while (head.find("\r\n\r\n") == std::string::npos && !head.starts_with('\x16')) {
      const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      head.append(buffer, static_cast<std::size_t>(got));
    }
    const std::size_t space = head.find(' ');
    const std::string path = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(head);
      if (const auto found = answers_.find(path); found != answers_.end()) answer = found->second;
    }
    for (std::size_t at = 0; at < answer.size();) {
      const ssize_t put = ::send(connection, answer.data() + at, answer.size() - at, MSG_NOSIGNAL);
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
    }
    ::close(connection);
  }
}

}  // namespace alate::hub
