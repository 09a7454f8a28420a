// Timeouts of a connection.
#include <algorithm>

#include "server/http/connection_state.h"

namespace alate::server {
namespace {

// Until something is sent, a client that closed its socket looks like one that only stopped sending.
constexpr auto kProbeAfter = std::chrono::milliseconds(200);

}  // namespace

void Connection::on_tick(Clock::time_point now) {
  const TransportSettings& limits = context_.settings;
  // Other clients wait for the place of a connection over the limit.
  const auto surplus_timeout = std::min(limits.header_timeout, limits.linger_timeout);
  guarded([&] {
    switch (state_) {
      case State::idle:
        if (!stream_->established()) {
          if (now - since_ > limits.header_timeout) close();
        } else if (facts_.surplus && now - since_ > surplus_timeout) {
          begin_request();
          end_surplus();
        } else if (now - since_ > limits.idle_timeout) {
          close();
        }
        break;
      case State::head:
        if (facts_.surplus && now - since_ > surplus_timeout) {
          end_surplus();
        } else if (now - current_->begun > limits.header_timeout) {
          refuse({408, "the request's head took too long", std::nullopt});
        }
        break;
      case State::body:
        if (now - current_->last_read > limits.body_idle_timeout ||
            current_->rate.too_slow(now, current_->parser.body_bytes(), limits.rate_window, limits.min_body_rate)) {
          refuse({408, "the request's body came too slowly", std::nullopt});
        } else if (now - current_->body_begun > limits.transfer_timeout) {
          refuse({408, "the request's body took too long: send less at a time", std::nullopt});
        }
        break;
      case State::handling: watch_client(now); break;
      case State::writing: watch_reader(now); break;
      case State::lingering:
        if (now - since_ > limits.linger_timeout) close();
        break;
      case State::closed: break;
    }
    if (state_ == State::writing || state_ == State::closed) advance();
  });
}

void Connection::watch_reader(Clock::time_point now) {
  const TransportSettings& limits = context_.settings;
  Current& current = *current_;
  if (current.starved) {
    if (stream_->peer() == net::PeerState::gone) close();
    return;
  }
  // A stream may take as long as its producer does.
  const bool takes_too_long = current.answer.has_known_size() && now - current.write_begun > limits.transfer_timeout;
  if (takes_too_long || now - current.last_write > limits.write_idle_timeout ||
      current.rate.too_slow(now, current.answer.written(), limits.write_rate_window, limits.min_write_rate))
    close();
}

void Connection::watch_client(Clock::time_point now) {
  Current& current = *current_;
  if (now >= current.exchange->deadline()) {
    ++serial_;
    current.exchange->abandon();
    return respond(refusal_answer(request(), {504, "the request took too long", std::nullopt}), false);
  }
  switch (stream_->peer()) {
    case net::PeerState::there: return;
    case net::PeerState::gone: return close();
    case net::PeerState::half_closed: break;
  }
  if (current.half_closed == Clock::time_point()) {
    current.half_closed = now;
  } else if (!current.probed && current.parser.http11() && now - current.half_closed >= kProbeAfter) {
    current.probed = true;
    send_interim();
  }
}

}  // namespace alate::server
