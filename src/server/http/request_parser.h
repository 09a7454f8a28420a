// One request from the bytes of its connection: the head first, then its body under a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_message.h"
#include "server/http/request_handler.h"
#include "server/http/transport_settings.h"

namespace alate::server {

/// Strict where leniency lets two programs disagree on where a request ends: one Content-Length of digits alone, or one
/// Transfer-Encoding that is exactly "chunked", never both; one valid Host in HTTP/1.1; what HeadScanner refuses.
/// Not thread-safe. Knows no socket and no time.
class RequestParser {
 public:
  /// `limits` must outlive the parser.
  explicit RequestParser(const TransportSettings& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  enum class State {
    head,      // in the head
    body,      // the head is whole; the body is not
    complete,  // all of it is here; further bytes belong to the next request
    refused,   // cannot go on; the connection must be closed after the answer
  };
  State state() const;

  /// Takes what it can from the front of `input` and returns how many bytes that is. What is left must stand at the
  /// front of the next call's input, followed by further bytes. Stops behind the head, so that the head can be looked
  /// at before the first byte of the body.
  std::size_t feed(std::string_view input);

  /// Whole from State::body on, the body when complete; what was understood of it when refused. May be moved from.
  Request& request();
  const Refusal& refusal() const;  // when refused

  // These are known from State::body on.
  bool http11() const;
  bool keep_alive() const;  // what the client asks for
  std::optional<std::uint64_t> content_length() const;
  std::size_t body_bytes() const;  // received so far
  /// From here on the body's bytes are counted but not kept.
  void drop_body();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Whether `host` may stand in a Host header: a name, an IPv4 address or an IPv6 address in brackets, and a port or
/// none.
bool valid_host(std::string_view host);

}  // namespace alate::server
