// The server's loop: listens, and carries requests to a RequestHandler and its answers back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/request_handler.h"
#include "server/http/transport_settings.h"

namespace alate::server {

/// All connections live on the thread that calls `run`; so do all calls of the handler.
class HttpServer {
 public:
  /// Binds and listens; clients can connect from here on, and are served from `run` on. `handler` must outlive the
  /// server. Errors: invalid_argument for an address or path that cannot be listened on; unavailable for one in use;
  /// not_found and corrupt for the files of TLS.
  HttpServer(TransportSettings settings, RequestHandler& handler);
  /// Abandons what is under way. Not while `run` runs.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:38211", "https://[::1]:8443", "unix:/run/alate.sock"; without the health listener.
  std::vector<std::string> endpoints() const;
  std::uint16_t port() const;         // of the first TCP listener; 0 without one
  std::uint16_t health_port() const;  // 0 without one

  /// SIGTERM and SIGINT stop the server, a second one at once; SIGHUP reloads TLS's files and then calls `on_reload`
  /// on the server's thread. Call before `run`, once a process.
  void handle_signals(std::function<void()> on_reload);

  /// Serves until stopped, at most once.
  void run();

  // Thread-safe.
  /// Takes no more connections, ends idle ones, answers the requests under way (with Connection: close) and then lets
  /// `run` return, after shutdown_timeout at the latest.
  void stop();
  /// Lets `run` return without waiting for anything.
  void stop_now();
  /// Reads the certificate and key again, for connections from now on. Throws what the constructor would; the old ones
  /// stay in use then. Does nothing without TLS.
  void reload_tls();
  std::size_t connections() const;
  std::size_t body_bytes() const;    // held by requests under way
  std::size_t answer_bytes() const;  // of answers that their clients have not taken at once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
