// A connection's state while a request is in flight. Internal to the files that implement Connection.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "server/http/connection.h"
#include "server/http/outgoing_answer.h"
#include "server/http/rate_window.h"
#include "server/http/request_parser.h"
#include "server/http/response_text.h"

namespace alate::server {

struct Connection::Current {
  Current(const TransportSettings& limits, std::shared_ptr<ClientAccount> address)
      : parser(limits), account(std::move(address)) {}

  RequestParser parser;
  std::shared_ptr<ClientAccount> account;  // of the client's address, later of its key
  ByteCharge charge;                       // for the body
  std::shared_ptr<Exchange> exchange;
  std::string id = new_request_id();
  Clock::time_point begun = Clock::now();
  Clock::time_point body_begun, last_read = begun, half_closed, write_begun, last_write;
  RateWindow rate;  // of the body, then of the answer
  bool head_known = false, keep_alive = false, closing = false, probed = false, served = false;
  bool starved = false;  // all that there is of a stream has been sent

  OutgoingAnswer answer;
  int status = 0;
  std::size_t request_bytes = 0;
  StageTimes stages;
};

// An exception from a handler, or a failed allocation, costs only this connection.
template <typename Action>
void Connection::guarded(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "connection dropped", {{"reason", error.what()}});
    close();
  }
}

}  // namespace alate::server
