// Transport settings: listening addresses, and limits on the time, bytes and connections of clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace alate::server {

struct TransportSettings {
  std::string host = "127.0.0.1";            // an address or a name; empty: no TCP listener
  std::uint16_t port = 0;                    // 0: any free port
  std::optional<std::uint16_t> health_port;  // additional listener, never TLS; its requests are `health_only`
  std::string unix_socket;                   // a path; empty: none
  std::string tls_certificate, tls_key;      // PEM files, both or none; a Unix socket never has TLS

  // Timeouts of a connection.
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(10);  // from a request's first byte to its head's end
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(75);    // between requests
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(120);    // from the end of the body; 0: none
  std::chrono::nanoseconds body_idle_timeout = std::chrono::seconds(10);   // without receiving a byte of a body
  std::chrono::nanoseconds write_idle_timeout = std::chrono::seconds(30);  // without a byte of an answer being read
  // Windows in which the minimum rates for bodies and answers must hold; readers may pause longer than senders.
  std::chrono::nanoseconds rate_window = std::chrono::seconds(10), write_rate_window = std::chrono::seconds(30);
  std::chrono::nanoseconds transfer_timeout = std::chrono::minutes(5);   // for a whole body, and for a whole answer
  std::chrono::nanoseconds linger_timeout = std::chrono::seconds(2);     // for the client to read a last answer
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(30);  // for requests in flight at shutdown
  std::size_t min_body_rate = 2048;                                      // bytes a second
  std::size_t min_write_rate = 2048;                                     // the same for answers

  // Sizes, in bytes.
  std::size_t max_header_bytes = 16 * 1024;  // request line and all headers together
  std::size_t max_target_bytes = 8 * 1024;
  std::size_t max_header_count = 100;
  std::size_t max_body_bytes = 32 * 1024 * 1024;
  std::size_t max_total_body_bytes = 512 * 1024 * 1024;    // of all requests in flight together
  std::size_t max_total_answer_bytes = 512 * 1024 * 1024;  // not yet read by their clients
  std::size_t max_connections = 4096;
  std::size_t max_client_percent = 75;  // share of the three limits above that one client may have
};

}  // namespace alate::server
