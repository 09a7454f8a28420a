// Interface between transport and application. The transport knows sockets, TLS, HTTP syntax, timeouts and sizes; the
// application knows routes, keys, error families and models.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "server/exchange/client_id.h"
#include "server/exchange/exchange.h"
#include "server/exchange/http_message.h"

namespace alate::server {

/// A request that the transport itself refuses: 400 malformed, 408 too slow, 413, 414, 415, 417, 431, 500, 501, 503 too
/// much in flight, 504, 505.
struct Refusal {
  int status = 400;
  std::string message;
  std::optional<int> retry_after;  // seconds
};

/// For the access log and the metrics, once a response has been written or its client has gone.
struct Served {
  const Request* request = nullptr;  // without its body; headers may be missing when it was malformed
  std::string id;
  int status = 0;                                     // 0: the client left without an answer
  std::size_t request_bytes = 0, response_bytes = 0;  // of the bodies
  std::chrono::nanoseconds duration{};                // from the first byte of the request to the last of the response
  StageTimes stages;
};

/// Result of checking a request's head.
struct HeadCheck {
  ClientId client;                 // the sender, for per-client limits
  std::optional<Response> answer;  // ends the request: the body is not read
};

/// All calls come from the transport's thread and must not block.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// Called with a request's head before its body is read.
  virtual HeadCheck check_head(const Request& head) = 0;
  /// Whether it is answered even when there are too many connections.
  virtual bool is_health(const Request& /*head*/) const { return false; }
  /// Takes a complete request, whose client is the one returned by `check_head`. Answers through the exchange,
  /// immediately or later, from any thread.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  /// The answer to a request refused by the transport, in the format of the path's family. The path is empty if the
  /// head was malformed or no request was read at all.
  virtual Response refuse(const Request& head, const Refusal& refusal) = 0;
  virtual void served(const Served& served) = 0;
  /// The server takes no more requests. Those in flight should come to an end soon.
  virtual void stopping() {}
};

}  // namespace alate::server
