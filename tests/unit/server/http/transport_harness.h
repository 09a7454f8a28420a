// A server with a small application behind it, and clients that speak bytes, not HTTP.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/descriptor.h"
#include "server/http/http_server.h"

namespace alate::server {

/// What the tests' application does:
///   /echo     answers the body and, in headers, what it saw (X-Method, X-Path, X-Query, X-Host, X-Peer, X-Secure,
///             X-Health)
///   /wait     answers "waited" from another thread, once `release` has been called
///   /large    answers `large_bytes` bytes
///   /pieces   the same as pieces of `piece_bytes`, made from a third of the memory; the letters go round, so that a
///   piece
///             in the wrong place is seen
///   /short    as /pieces, but says that there is a byte more
///   /stream   begins an answer and gives it to `stream`
///   /evil     puts line breaks into the values of its headers, and sets headers of the transport
///   /empty    answers 204
///   /throw    throws
///   /forbidden  is answered 401 by its head
///   /health   as /echo, and answered when there are too many connections
/// A key (X-API-Key: 0, 1 …) makes another client. Each request handled holds a place, as admission gives one.
class TestApplication final : public RequestHandler {
 public:
  ~TestApplication() override;

  HeadCheck check_head(const Request& head) override;
  bool is_health(const Request& head) const override { return head.path == "/health"; }
  void handle(std::shared_ptr<Exchange> exchange) override;
  Response refuse(const Request& head, const Refusal& refusal) override;
  void served(const Served& served) override;

  struct Record {
    std::string path, id;
    int status = 0;
    std::size_t request_bytes = 0, response_bytes = 0;
  };
  /// Waits until that many requests have been served, and returns them all. Thread-safe, as all that follows.
  std::vector<Record> wait_served(std::size_t count);
  /// Waits until that many /wait requests are under way, now or in the past.
  void wait_begun(std::size_t count);
  /// Waits until that many have been abandoned.
  void wait_abandoned(std::size_t count);
  void release();
  std::size_t handled();
  std::size_t places() const { return *places_; }

  /// What writes the answers of /stream, on the transport's thread. Set before the first of them is asked for.
  std::function<void(std::shared_ptr<Exchange> exchange, AnswerWriter writer)> stream;
  /// Called when the server stops. The same.
  std::function<void()> on_stopping;
  void stopping() override {
    if (on_stopping) on_stopping();
  }

  std::size_t large_bytes = 8 * 1024 * 1024;
  std::size_t piece_bytes = 64 * 1024;
  /// The body of /pieces.
  std::string piecewise_text() const;
  /// Of bodies made of pieces, those that exist.
  std::size_t sources() const { return *sources_; }

 private:
  template <typename Condition>
  void wait_for(Condition condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Record> served_;
  std::vector<std::shared_ptr<Exchange>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t begun_ = 0, abandoned_ = 0, handled_ = 0;
  bool released_ = false;
  std::shared_ptr<std::atomic<std::size_t>> places_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::shared_ptr<std::atomic<std::size_t>> sources_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Short enough for tests of what takes long, long enough that nothing else runs into them.
TransportSettings test_settings();

/// Serves on a thread of its own until it is destroyed.
class TestServer {
 public:
  explicit TestServer(TransportSettings settings = test_settings());
  ~TestServer();

  TestApplication application;
  HttpServer server;
  /// Waits for `run` to return.
  void join();

 private:
  std::thread thread_;
};

struct RawAnswer {
  int status = 0;                              // 0: the connection ended before a whole answer came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

/// A connected socket. Waits for the server for a minute at most, and then fails the test.
class RawClient {
 public:
  /// From the address `source` of this machine; empty: any.
  static RawClient tcp(std::uint16_t port, const std::string& host = "127.0.0.1", const std::string& source = {});
  static RawClient unix_socket(const std::string& path);

  /// Whether all could be written.
  bool send(std::string_view bytes);
  /// The next answer; with `no_body` to HEAD. Interim answers (100) are skipped, and counted.
  RawAnswer receive(bool no_body = false);
  /// Whether the server ends the connection without sending anything more.
  bool ends();
  /// The rest of a body in chunks whose head `receive` has brought; nothing if it is not complete.
  std::optional<std::string> receive_chunks();
  /// The next chunk, empty for the last; nothing if the connection ends.
  std::optional<std::string> receive_chunk();
  /// All bytes until the server ends the connection.
  std::string receive_all();
  /// Waits for the first byte without taking it.
  bool wait_readable();
  void half_close();
  void reset();  // closes with RST
  void close() { socket_.reset(); }
  int descriptor() const { return socket_.number(); }

  int interim_answers = 0;

 private:
  explicit RawClient(net::Descriptor socket) : socket_(std::move(socket)) {}
  bool fill();

  net::Descriptor socket_;
  std::string received_;
};

/// One request on a connection of its own.
RawAnswer ask(TestServer& server, std::string_view bytes);

/// Another client than those of 127.0.0.1: all of 127.0.0.0/8 is this machine.
inline constexpr const char* kOtherAddress = "127.0.0.2";
RawClient other_client(const TestServer& server);
RawAnswer ask_as_other(const TestServer& server, std::string_view bytes);

/// That many connections, each with `bytes` sent.
std::vector<RawClient> connect_clients(const TestServer& server, std::size_t count, const std::string& bytes = {});

/// Requests to the tests' application.
inline const std::string kWait = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";
inline const std::string kEcho = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
inline const std::string kLarge = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";

inline constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

/// Waits until it holds; fails the test after a minute.
void wait_until(const std::function<bool()>& condition);

/// A folder that is removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(std::string_view name) const;

 private:
  std::string path_;
};

/// Writes a new key and a certificate for "localhost" and 127.0.0.1, signed by itself, as PEM files.
enum class KeyKind { p256, rsa };
void write_certificate(const std::string& certificate_file, const std::string& key_file, const std::string& name,
                       KeyKind key_kind = KeyKind::p256);

}  // namespace alate::server
