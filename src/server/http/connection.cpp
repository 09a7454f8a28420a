#include "server/http/connection.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/log.h"
#include "server/http/connection_state.h"
#include "server/http/response_text.h"

namespace alate::server {
namespace {

// Limit on bytes read and written per turn, so that a fast client leaves time for others.
constexpr std::size_t kBytesPerTurn = 1024 * 1024;
// Some clients end a body with a line break that is not part of it (RFC 9112, section 2.2).
constexpr unsigned kMaxBlankLines = 2;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
const Refusal kNotTls = {400, "this port speaks HTTPS, and the request came without TLS: ask at https://",
                         std::nullopt};
// For a client that has more than its share in flight, and for the clients that hold most when there is no room for
// all.
const Refusal kNoBodyRoom = {503, "too many bodies are under way: try again later, or send less at a time", 1};

// The charge lives as long as the exchange, whichever thread releases it last.
struct ChargedExchange {
  template <typename... Arguments>
  explicit ChargedExchange(ByteCharge the_charge, Arguments&&... arguments)
      : charge(std::move(the_charge)), exchange(std::forward<Arguments>(arguments)...) {}

  ByteCharge charge;
  Exchange exchange;
};

// The rows of texts, with their places and the models' numbers, take several times the texts' bytes.
constexpr std::size_t kRowBytesOfBody = 4;
std::size_t row_bytes_of(const TransportSettings& settings) {
  return kRowBytesOfBody * std::min(settings.max_total_body_bytes, ~std::size_t{0} / kRowBytesOfBody);
}

}  // namespace

ConnectionContext::ConnectionContext(const TransportSettings& the_settings, RequestHandler& the_handler)
    : settings(the_settings),
      handler(the_handler),
      held(std::make_shared<HeldBytes>(
          the_settings.max_total_answer_bytes,
          client_share(the_settings.max_total_answer_bytes, the_settings.max_client_percent, 1),
          HeldBytes::Limit{.client = client_share(row_bytes_of(the_settings), the_settings.max_client_percent,
                                                  kRowBytesOfBody * the_settings.max_body_bytes),
                           .all = row_bytes_of(the_settings)})),
      accounts(held),
      // There is always room for one whole body.
      max_client_bodies(client_share(the_settings.max_total_body_bytes, the_settings.max_client_percent,
                                     the_settings.max_body_bytes)) {}

Connection::Connection(ConnectionContext& context, std::unique_ptr<net::Stream> stream, ConnectionFacts facts,
                       AnswerSink sink)
    : context_(context),
      stream_(std::move(stream)),
      facts_(std::move(facts)),
      account_(context.accounts.find(client_of_address(facts_.peer))),
      sink_(std::make_shared<const AnswerSink>(std::move(sink))),
      since_(Clock::now()) {}

Connection::~Connection() { close(); }

void Connection::on_ready() {
  guarded([&] { advance(); });
}

void Connection::advance() {
  std::size_t turn = 0;
  for (;;) {
    switch (state_) {
      case State::idle:
      case State::head:
      case State::body:
        if (input_is_new_) {
          take_input();
        } else if (!receive(turn)) {
          return;
        }
        break;
      case State::handling: wish_ = Wish::answer; return;
      case State::writing:
        if (!send(turn)) return;
        break;
      case State::lingering:
        if (!drain(turn)) return;
        break;
      case State::closed: wish_ = Wish::close; return;
    }
  }
}

bool Connection::receive(std::size_t& turn) {
  if (std::exchange(socket_is_empty_, false) && !stream_->buffered()) {
    wish_ = Wish::read;
    return false;
  }
  if (turn >= kBytesPerTurn) {
    wish_ = Wish::again;
    return false;
  }
  const net::IoResult result = stream_->read(context_.scratch);
  switch (result.status) {
    case net::IoStatus::done:
      turn += result.bytes;
      socket_is_empty_ = result.bytes < context_.scratch.size();
      input_.erase(0, std::exchange(input_taken_, 0));
      input_.append(context_.scratch.data(), result.bytes);
      input_is_new_ = true;
      if (current_) current_->last_read = Clock::now();
      return true;
    case net::IoStatus::wants_read: wish_ = Wish::read; return false;
    case net::IoStatus::wants_write: wish_ = Wish::write; return false;
    case net::IoStatus::ended: input_ended(); return true;
    case net::IoStatus::not_tls:
      // The head is read for its path, which says in whose shape the client expects errors.
      not_tls_ = true;
      facts_.secure = false;
      begin_request();
      return true;
    case net::IoStatus::failed: close(); return true;
  }
  return false;
}

void Connection::input_ended() {
  if (state_ == State::idle) return close();
  refuse({400, "the request ended before it was complete", std::nullopt});
}

void Connection::take_input() {
  input_is_new_ = false;
  if (state_ == State::idle) {
    for (; blank_lines_ < kMaxBlankLines && unread().starts_with("\r\n"); ++blank_lines_) input_taken_ += 2;
    if (unread().empty() || (unread() == "\r" && blank_lines_ < kMaxBlankLines)) return;
    begin_request();
  }
  if (state_ == State::head) {
    take_head();
  } else {
    take_body();
  }
}

void Connection::begin_request() {
  current_ = std::make_unique<Current>(context_.settings, account_);
  blank_lines_ = 0;
  state_ = State::head;
}

void Connection::take_head() {
  RequestParser& parser = current_->parser;
  input_taken_ += parser.feed(unread());
  switch (parser.state()) {
    case RequestParser::State::head: return;
    case RequestParser::State::refused: return refuse(parser.refusal());
    case RequestParser::State::body:
    case RequestParser::State::complete: break;
  }
  input_is_new_ = !unread().empty();
  head_arrived();
}

void Connection::head_arrived() {
  Current& current = *current_;
  Request& head = current.parser.request();
  const TransportSettings& limits = context_.settings;
  current.head_known = true;
  head.peer = facts_.peer;
  head.secure = facts_.secure;
  head.health_only = facts_.health_only;
  current.keep_alive = current.parser.keep_alive();
  if (const std::string* id = head.headers.find("X-Request-Id"); id != nullptr && valid_request_id(*id))
    current.id = *id;

  if (not_tls_) {
    current.keep_alive = false;
    return end_early(refusal_answer(head, kNotTls));
  }
  if (facts_.surplus) {
    current.keep_alive = false;
    if (!context_.handler.is_health(head)) return end_early(too_many_connections(head));
  }
  HeadCheck check = context_.handler.check_head(head);
  if (check.answer) return end_early(std::move(*check.answer));
  if (check.client != account_->id) current.account = context_.accounts.find(check.client);
  current.charge = ByteCharge(current.account, ByteCharge::Kind::body);
  const std::uint64_t length = current.parser.content_length().value_or(0);
  if (length > limits.max_body_bytes) {
    const Refusal refusal = {413, "the body is too large: at most " + std::to_string(limits.max_body_bytes) + " bytes",
                             std::nullopt};
    return end_early(refusal_answer(head, refusal));
  }
  if (const std::string* encoding = head.headers.find("Content-Encoding");
      encoding != nullptr && !encoding->empty() && !same_token(*encoding, "identity"))
    return end_early(refusal_answer(head, {415, "compressed bodies are not taken: send it as it is", std::nullopt}));
  const std::string* expect = current.parser.http11() ? head.headers.find("Expect") : nullptr;
  if (expect != nullptr && !same_token(*expect, "100-continue"))
    return end_early(refusal_answer(head, {417, "the only expectation met here is 100-continue", std::nullopt}));
  if (current.parser.state() == RequestParser::State::complete) return dispatch();
  if (!has_body_room(length)) return end_early(refusal_answer(head, kNoBodyRoom));

  state_ = State::body;
  current.body_begun = current.last_read = Clock::now();
  current.rate.begin(current.body_begun);
  if (expect != nullptr && unread().empty()) send_interim();
}

void Connection::take_body() {
  Current& current = *current_;
  input_taken_ += current.parser.feed(unread());
  current.charge.raise_to(current.parser.body_bytes());
  if (current.parser.state() == RequestParser::State::refused) return refuse(current.parser.refusal());
  if (!has_body_room(0)) return refuse(kNoBodyRoom);
  if (current.parser.state() == RequestParser::State::complete) dispatch();
}

bool Connection::has_body_room(std::size_t bytes) {
  const ClientAccount& client = *current_->account;
  if (client.bodies + bytes > context_.max_client_bodies) return false;
  if (client.total->bodies + bytes <= context_.settings.max_total_body_bytes) return true;
  return context_.make_body_room && context_.make_body_room(client, bytes);
}

void Connection::dispatch() {
  Current& current = *current_;
  const auto timeout = context_.settings.request_timeout;
  const auto deadline = timeout.count() > 0 ? Clock::now() + timeout : Clock::time_point::max();
  current.request_bytes = current.parser.body_bytes();
  auto send = [sink = sink_, serial = ++serial_](Response response) { sink->answer(serial, std::move(response)); };
  auto charged = std::make_shared<ChargedExchange>(std::move(current.charge), std::move(current.parser.request()),
                                                   current.id, deadline, std::move(send));
  current.exchange = std::shared_ptr<Exchange>(charged, &charged->exchange);
  current.exchange->client_id = current.account->id;
  current.exchange->account = current.account;
  state_ = State::handling;
  try {
    context_.handler.handle(current.exchange);
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "request failed", {{"request", current.id}, {"reason", error.what()}});
    ++serial_;  // discards an answer it may already have given
    current.exchange->abandon();
    respond(refusal_answer(request(), {500, "the server failed on this request", std::nullopt}), false);
  }
}

void Connection::on_answer(std::uint64_t serial, Response response) {
  if (state_ != State::handling || serial != serial_) return;
  guarded([&] {
    current_->stages = current_->exchange->stages;
    respond(std::move(response), false);
    advance();
  });
}

void Connection::on_more(std::uint64_t serial) {
  if (state_ == State::writing && serial == serial_) on_ready();
}

// Answers a well-formed head whose body is not wanted. The connection continues only if the body has already arrived.
void Connection::end_early(Response response) {
  RequestParser& parser = current_->parser;
  parser.drop_body();
  if (parser.state() == RequestParser::State::body) input_taken_ += parser.feed(unread());
  current_->request_bytes = parser.body_bytes();
  respond(std::move(response), parser.state() != RequestParser::State::complete);
}

void Connection::refuse(const Refusal& refusal) {
  Request& head = current_->parser.request();
  head.peer = facts_.peer;
  head.secure = facts_.secure;
  head.health_only = facts_.health_only;
  current_->request_bytes = current_->parser.body_bytes();
  current_->parser.drop_body();
  current_->charge = {};
  respond(refusal_answer(head, not_tls_ ? kNotTls : refusal), true);
}

Response Connection::refusal_answer(const Request& head, const Refusal& refusal) {
  Response response = context_.handler.refuse(head, refusal);
  if (refusal.retry_after && response.headers.find("Retry-After") == nullptr)
    response.headers.add("Retry-After", std::to_string(*refusal.retry_after));
  if (refusal.status == 415) response.headers.set("Accept-Encoding", "identity");  // RFC 9110, 15.5.16
  return response;
}

void Connection::respond(Response response, bool close) {
  Current& current = *current_;
  using Framing = OutgoingAnswer::Framing;
  const Framing framing = response.body_bytes()     ? Framing::told
                          : current.parser.http11() ? Framing::chunked
                                                    : Framing::until_close;
  current.closing =
      close || response.close || framing == Framing::until_close || !current.keep_alive || context_.stopping;
  const bool announce = !current.closing && !current.parser.http11();
  const bool with_body = status_has_body(response.status) && request().method != Method::head;
  std::function<void()> wake;
  if (response.stream) wake = [sink = sink_, serial = serial_] { sink->more(serial); };
  current.answer =
      OutgoingAnswer(response_head(response, {current.id, current.closing, announce, framing == Framing::chunked}),
                     response, with_body, framing, std::move(wake));
  current.status = response.status;
  current.write_begun = current.last_write = Clock::now();
  current.rate.begin(current.write_begun);
  state_ = State::writing;
}

// Its few bytes either fit into the socket buffer at once or are skipped; sending only half would corrupt what follows,
// and TLS cannot take back a write that has begun.
void Connection::send_interim() {
  const net::IoResult result = stream_->write(kContinue, {});
  const bool nothing_sent = result.status == net::IoStatus::wants_write && !facts_.secure;
  if (!nothing_sent && (result.status != net::IoStatus::done || result.bytes != kContinue.size())) close();
}

bool Connection::send(std::size_t& turn) {
  Current& current = *current_;
  OutgoingAnswer& answer = current.answer;
  if (answer.is_written()) {
    finish_answer();
    return true;
  }
  // Making a piece takes as long as writing many, so there is one per turn.
  if (turn >= kBytesPerTurn || (turn > 0 && answer.needs_piece())) {
    wish_ = Wish::again;
    charge_answer();
    return state_ == State::closed;
  }
  if (answer.needs_piece() && !make_piece()) return state_ == State::closed;
  if (answer.is_written()) return true;
  const net::IoResult result = stream_->write(answer.head(), answer.body());
  switch (result.status) {
    case net::IoStatus::done:
      turn += result.bytes;
      answer.wrote(result.bytes);
      current.last_write = Clock::now();
      return true;
    case net::IoStatus::wants_read:
    case net::IoStatus::wants_write:
      wish_ = result.status == net::IoStatus::wants_read ? Wish::read : Wish::write;
      charge_answer();
      return state_ == State::closed;
    case net::IoStatus::ended:
    case net::IoStatus::not_tls:
    case net::IoStatus::failed: break;
  }
  close();
  return true;
}

// Whether there is something to write; otherwise the connection waits, or is closed.
bool Connection::make_piece() {
  Current& current = *current_;
  switch (current.answer.make_piece()) {
    case OutgoingAnswer::Piece::made: break;
    case OutgoingAnswer::Piece::waits:
      wish_ = Wish::answer;
      current.starved = true;
      current.answer.give_charge_back();
      return false;
    case OutgoingAnswer::Piece::missing:
      // The client must not take it for a whole answer.
      report_served(500);
      close();
      return false;
  }
  // While there was nothing to read, the client could not be slow.
  if (std::exchange(current.starved, false)) {
    current.last_write = Clock::now();
    current.rate.begin(current.last_write, current.answer.written());
  }
  return true;
}

// Only answers that the client does not read immediately are charged; all others cost nothing here.
void Connection::charge_answer() {
  Current& current = *current_;
  if (current.answer.charged_bytes() > 0) return;
  current.answer.charge(current.account);
  if (context_.held->answers > context_.held->max_answers && context_.make_answer_room) context_.make_answer_room();
}

void Connection::finish_answer() {
  report_served(current_->status);
  const bool closing = current_->closing || context_.stopping;
  has_answered_ = true;
  // Before the slot is released, which the client's next request may be waiting for.
  current_->answer = {};
  if (current_->exchange) current_->exchange->finish();
  current_.reset();
  since_ = Clock::now();
  if (closing) {
    // Closing a socket with unread bytes resets the connection, and the client may lose the answer. Instead, signal the
    // end of the stream and give the client some time to close.
    stream_->finish_writing();
    std::string().swap(input_);
    input_taken_ = 0;
    drained_ = 0;
    state_ = State::lingering;
    return;
  }
  state_ = State::idle;
  input_is_new_ = !unread().empty();
  if (!input_is_new_) {
    std::string().swap(input_);
    input_taken_ = 0;
  }
  socket_is_empty_ = true;  // most likely; if not, readiness will tell
}

bool Connection::drain(std::size_t& turn) {
  if (turn >= kBytesPerTurn) {
    wish_ = Wish::again;
    return false;
  }
  const net::IoResult result = stream_->discard(context_.scratch);
  if (result.status == net::IoStatus::wants_read || result.status == net::IoStatus::wants_write) {
    wish_ = result.status == net::IoStatus::wants_read ? Wish::read : Wish::write;
    return false;
  }
  turn += result.bytes;
  drained_ += result.bytes;
  const std::size_t limit = context_.settings.max_body_bytes + context_.settings.max_header_bytes;
  if (result.status != net::IoStatus::done || drained_ > limit) close();
  return true;
}

void Connection::on_stop() {
  if (state_ != State::idle) return;
  on_ready();  // a request may have arrived unnoticed
  if (state_ == State::idle) close();
}

Response Connection::too_many_connections(const Request& head) {
  return refusal_answer(head, {503, "too many connections: try again later", 1});
}

void Connection::end_surplus() {
  Request& head = current_->parser.request();
  head.peer = facts_.peer;
  respond(too_many_connections(head), true);
}

Connection::Holding Connection::unfinished_body() const {
  if (state_ != State::body || current_->charge.bytes() == 0) return {};
  return {current_->account.get(), current_->charge.bytes(), current_->last_read};
}

Connection::Holding Connection::unread_answer() const {
  if (state_ != State::writing || current_->answer.charged_bytes() == 0) return {};
  return {current_->account.get(), current_->answer.charged_bytes(), current_->last_write};
}

void Connection::refuse_body() {
  if (state_ != State::body) return;
  guarded([&] { refuse(kNoBodyRoom); });
}

bool Connection::close_if_waiting() {
  if (state_ == State::idle) on_ready();  // a request may have arrived unnoticed
  if (state_ == State::idle || state_ == State::head) close();
  return state_ == State::closed;
}

const Request& Connection::request() const {
  return current_->exchange ? current_->exchange->request() : current_->parser.request();
}

void Connection::report_served(int status) {
  Current& current = *current_;
  if (std::exchange(current.served, true)) return;
  Served served;
  served.request = &request();
  served.id = current.id;
  served.status = status;
  served.request_bytes = current.request_bytes;
  served.response_bytes = current.answer.body_written();
  served.duration = Clock::now() - current.begun;
  served.stages = current.stages;
  context_.handler.served(served);
}

void Connection::close() {
  wish_ = Wish::close;
  if (std::exchange(state_, State::closed) == State::closed) return;
  if (!current_) return;
  try {
    if (current_->exchange) current_->exchange->abandon();
    if (current_->head_known || current_->status != 0) report_served(0);
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "closing a connection failed", {{"reason", error.what()}});
  }
  current_->answer = {};
  if (current_->exchange) current_->exchange->finish();
  current_.reset();
}

}  // namespace alate::server
