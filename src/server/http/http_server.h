// The server's event loop: listens, passes requests to a RequestHandler and sends its answers.
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

/// All connections live on the thread that calls `run`; the handler is called only on that thread.
class HttpServer {
 public:
  /// Binds and listens. Clients can connect from here on, and are served once `run` is called. `handler` must outlive
  /// the server. Errors: invalid_argument for an address or path that cannot be listened on; unavailable for one in
  /// use; not_found and corrupt for the TLS files.
  HttpServer(TransportSettings settings, RequestHandler& handler);
  /// Abandons requests in flight. Not while `run` is running.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:38211", "https://[::1]:8443", "unix:/run/alate.sock"; excludes the health listener.
  std::vector<std::string> endpoints() const;
  std::uint16_t port() const;         // of the first TCP listener; 0 if none
  std::uint16_t health_port() const;  // 0 if none

  /// SIGTERM and SIGINT stop the server, a second one stops it at once; SIGHUP reloads the TLS files and then calls
  /// `on_reload` on the server's thread. Call before `run`, once per process.
  void handle_signals(std::function<void()> on_reload);

  /// Serves until stopped. Can be called only once.
  void run();

  // Thread-safe.
  /// Accepts no more connections, closes idle ones, answers the requests in flight (with Connection: close) and then
  /// lets `run` return, after shutdown_timeout at the latest.
  void stop();
  /// Lets `run` return without waiting for anything.
  void stop_now();
  /// Reloads the certificate and key, for new connections. Throws as the constructor; the old ones then stay in use.
  /// Does nothing without TLS.
  void reload_tls();
  std::size_t connections() const;
  std::size_t body_bytes() const;    // held by requests in flight
  std::size_t answer_bytes() const;  // of answers not yet read by their clients

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::server
