// Parses one request from the bytes of its connection: first the head, then the body, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/exchange/http_message.h"
#include "server/http/request_handler.h"
#include "server/http/transport_settings.h"

namespace alate::server {

/// Strict where leniency lets two programs disagree on where a request ends: one all-digit Content-Length or one
/// Transfer-Encoding that is exactly "chunked", never both; exactly one valid Host in HTTP/1.1; everything that
/// HeadScanner refuses.
/// Not thread-safe. Knows nothing of sockets or time.
class RequestParser {
 public:
  /// `limits` must outlive the parser.
  explicit RequestParser(const TransportSettings& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  enum class State {
    head,      // in the head
    body,      // the head is complete; the body is not
    complete,  // the request is complete; further bytes belong to the next one
    refused,   // cannot continue; the connection must be closed after the answer
  };
  State state() const;

  /// Consumes as much of the front of `input` as it can and returns the number of bytes. The rest must be at the front
  /// of the next call's input, followed by further bytes. Stops after the head, so that the caller can inspect it
  /// before the first byte of the body.
  std::size_t feed(std::string_view input);

  /// The head is complete from State::body on, the body when complete; when refused, whatever could be parsed. May be
  /// moved from.
  Request& request();
  const Refusal& refusal() const;  // when refused

  // These are known from State::body on.
  bool http11() const;
  bool keep_alive() const;  // as requested by the client
  std::optional<std::uint64_t> content_length() const;
  std::size_t body_bytes() const;  // received so far
  /// From now on body bytes are counted but not kept.
  void drop_body();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Whether `host` is valid in a Host header: a name, an IPv4 address or a bracketed IPv6 address, with or without a
/// port.
bool valid_host(std::string_view host);

}  // namespace alate::server
