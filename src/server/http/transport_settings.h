// Where the transport listens, and what it lets a client take: time, bytes, connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace alate::server {

struct TransportSettings {
  std::string host = "127.0.0.1";            // an address or a name; empty: no TCP listener
  std::uint16_t port = 0;                    // 0: one that is free
  std::optional<std::uint16_t> health_port;  // a further listener, always without TLS, whose requests are `health_only`
  std::string unix_socket;                   // a path; empty: none
  std::string tls_certificate, tls_key;      // PEM files, both or none; a Unix socket never has TLS

  // Times of one connection.
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(10);  // from a request's first byte to its head's end
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(75);    // between requests
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(120);    // from the body's end; 0: none
  std::chrono::nanoseconds body_idle_timeout = std::chrono::seconds(10);   // without one byte of a body
  std::chrono::nanoseconds write_idle_timeout = std::chrono::seconds(30);  // without a byte of an answer taken
  // In each of which the minimum rates hold, of a body and of an answer; readers may pause for longer than senders.
  std::chrono::nanoseconds rate_window = std::chrono::seconds(10), write_rate_window = std::chrono::seconds(30);
  std::chrono::nanoseconds transfer_timeout = std::chrono::minutes(5);   // of a whole body, and of a whole answer
  std::chrono::nanoseconds linger_timeout = std::chrono::seconds(2);     // for the client to take a last answer
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(30);  // for requests under way at the end
  std::size_t min_body_rate = 2048;                                      // bytes a second
  std::size_t min_write_rate = 2048;                                     // the same of answers

  // Sizes, in bytes.
  std::size_t max_header_bytes = 16 * 1024;  // of a request line and all headers together
  std::size_t max_target_bytes = 8 * 1024;
  std::size_t max_header_count = 100;
  std::size_t max_body_bytes = 32 * 1024 * 1024;
  std::size_t max_total_body_bytes = 512 * 1024 * 1024;    // of all requests under way together
  std::size_t max_total_answer_bytes = 512 * 1024 * 1024;  // of answers that their clients have not taken at once
  std::size_t max_connections = 4096;
  std::size_t max_client_percent = 75;  // of the three limits above, for one client
};

}  // namespace alate::server
