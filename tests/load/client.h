// A plain blocking HTTP/1.1 client on one socket: keeps its connection, and can misbehave on purpose.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace alate::load {

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
};

/// Throws std::runtime_error when the connection fails or the answer is no HTTP. One thread at a time.
class Client {
 public:
  /// Connects from the loopback address `source` ("127.0.0.2": another client than 127.0.0.1).
  /// A server that says nothing for as long as `patience` fails the connection.
  explicit Client(std::uint16_t port, std::string source = {},
                  std::chrono::milliseconds patience = std::chrono::minutes(2))
      : port_(port), source_(std::move(source)), patience_(patience) {}
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  static std::string request(std::string_view method, std::string_view path, std::string_view body,
                             std::string_view headers = "");

  void connect();
  void close();
  /// Closes so that the peer gets a reset.
  void reset();
  /// Sends all of it, or what the server takes before it closes the connection; `pause_ms` between pieces of `piece`
  /// bytes makes a slow client.
  void send(std::string_view bytes, std::size_t piece = 0, int pause_ms = 0);
  /// Reads one answer, `pause_ms` before each read.
  Answer receive(int pause_ms = 0);
  /// Connects where needed, sends and receives.
  Answer exchange(std::string_view bytes);

 private:
  std::uint16_t port_;
  std::string source_;
  std::chrono::milliseconds patience_;
  int socket_ = -1;
  std::string buffer_;
};

}  // namespace alate::load
