// What a connection has only while a request is under way; for the files that make up Connection.
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
  std::shared_ptr<ClientAccount> account;  // of the address, then of the key
  ByteCharge charge;                       // for the body
  std::shared_ptr<Exchange> exchange;
  std::string id = new_request_id();
  Clock::time_point begun = Clock::now();
  Clock::time_point body_begun, last_read = begun, half_closed, write_begun, last_write;
  RateWindow rate;  // of the body, then of the answer
  bool head_known = false, keep_alive = false, closing = false, probed = false, served = false;

  OutgoingAnswer answer;
  int status = 0;
  std::size_t request_bytes = 0;
  StageTimes stages;
};

// A handler that throws, or memory that is not there, costs this connection and no other.
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
