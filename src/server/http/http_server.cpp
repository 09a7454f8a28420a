#include "server/http/http_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "base/threads/mutex.h"
#include "net/tls.h"
#include "server/http/connection.h"
#include "server/http/listener.h"
#include "server/http/shedding.h"

namespace alate::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Connections allowed on the health port in addition to the connection limit.
constexpr std::size_t kHealthConnections = 64;
// Connections over the limit whose heads are still read, to answer health checks or to say that there are too many: in
// total, and per client.
constexpr std::size_t kSurplusConnections = 64, kClientSurplusConnections = 16;
// Sent as is to clients that exceed even that.
constexpr std::string_view kTurnedAway =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 49\r\nRetry-After: 1\r\n"
    "Connection: close\r\n\r\n{\"error\":\"too many connections: try again later\"}";
constexpr int kAcceptsPerTurn = 64;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// Answers come from threads that may outlive the server.
struct Mailbox {
  base::Mutex mutex;
  asio::io_context* loop = nullptr;  // null once the server is gone
};

struct Session {
  explicit Session(asio::io_context& loop) : socket(loop) {}

  asio::posix::stream_descriptor socket;
  std::unique_ptr<Connection> connection;
  bool awaits_read = false, awaits_write = false, awaits_turn = false;
  std::list<std::shared_ptr<Session>>::iterator place;
};

// Clocks are checked often enough for the shortest timeout.
std::chrono::nanoseconds tick_period(const TransportSettings& settings) {
  std::chrono::nanoseconds shortest = std::chrono::milliseconds(400);
  for (const auto timeout : {settings.header_timeout, settings.idle_timeout, settings.request_timeout,
                             settings.body_idle_timeout, settings.write_idle_timeout, settings.transfer_timeout,
                             settings.rate_window, settings.write_rate_window, settings.linger_timeout}) {
    if (timeout.count() > 0) shortest = std::min(shortest, timeout);
  }
  return std::max<std::chrono::nanoseconds>(shortest / 4, std::chrono::milliseconds(5));
}

}  // namespace

struct HttpServer::State {
  State(TransportSettings the_settings, RequestHandler& handler);
  ~State();

  struct Port {
    Port(asio::io_context& loop, std::unique_ptr<Listener> the_listener, bool is_secure, bool is_health)
        : listener(std::move(the_listener)),
          readiness(loop, listener->descriptor()),
          secure(is_secure),
          health(is_health) {}
    ~Port() { readiness.release(); }  // the listener closes the descriptor
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    std::unique_ptr<Listener> listener;
    asio::posix::stream_descriptor readiness;
    bool secure, health;
    bool paused = false;  // until descriptors are available again
  };

  void run();
  void await_clients(Port& port);
  void await_clients_later(Port& port);
  void accept_clients(Port& port);
  enum class Room { within_limit, surplus, none };
  Room room_for(const Port& port, const ClientAccount& client);
  template <typename Rank>
  std::shared_ptr<Session> next_to_shed(const Rank& rank) const;
  bool free_descriptor();
  bool make_body_room(const ClientAccount& client, std::size_t bytes);
  void make_answer_room();
  void add_session(Port& port, Accepted accepted);
  void update(const std::shared_ptr<Session>& session);
  void go_on(const std::shared_ptr<Session>& session);
  void drop(const std::shared_ptr<Session>& session);
  void tick();
  void await_signal();
  void begin_stop();
  void stop_now();
  void finish_if_empty();

  const TransportSettings settings;
  ConnectionContext context;
  std::unique_ptr<net::TlsServer> tls;
  std::atomic<std::size_t> session_count = 0;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  asio::io_context loop{1};
  asio::steady_timer ticker{loop}, accept_timer{loop}, stop_timer{loop};
  asio::signal_set signals{loop};
  std::function<void()> on_reload;
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::string> endpoints;
  std::uint16_t port = 0, health_port = 0;
  std::list<std::shared_ptr<Session>> sessions;
  std::size_t surplus = 0;  // sessions over the limit
  bool ticking = false;
};

HttpServer::State::State(TransportSettings the_settings, RequestHandler& handler)
    : settings(std::move(the_settings)), context(settings, handler) {
  if (settings.tls_certificate.empty() != settings.tls_key.empty())
    throw make_error(ErrorCode::invalid_argument, "TLS needs both a certificate and a key: ",
                     settings.tls_key.empty() ? "name the key's file too" : "name the certificate's file too");
  if (!settings.tls_certificate.empty())
    tls = std::make_unique<net::TlsServer>(settings.tls_certificate, settings.tls_key);
  if (!settings.host.empty()) {
    for (auto& listener : listen_tcp(settings.host, settings.port)) {
      if (port == 0) port = listener->port();
      endpoints.push_back((tls ? "https://" : "http://") + listener->address());
      ports.push_back(std::make_unique<Port>(loop, std::move(listener), tls != nullptr, false));
    }
  }
  if (!settings.unix_socket.empty()) {
    endpoints.push_back("unix:" + settings.unix_socket);
    ports.push_back(std::make_unique<Port>(loop, listen_unix(settings.unix_socket), false, false));
  }
  if (settings.health_port) {
    const std::string host = settings.host.empty() ? "127.0.0.1" : settings.host;
    for (auto& listener : listen_tcp(host, *settings.health_port)) {
      if (health_port == 0) health_port = listener->port();
      ports.push_back(std::make_unique<Port>(loop, std::move(listener), false, true));
    }
  }
  mailbox->loop = &loop;
  context.make_body_room = [this](const ClientAccount& client, std::size_t bytes) {
    return make_body_room(client, bytes);
  };
  context.make_answer_room = [this] { make_answer_room(); };
}

HttpServer::State::~State() {
  {
    const std::lock_guard lock(mailbox->mutex);
    mailbox->loop = nullptr;
  }
  for (const auto& session : sessions) session->connection->abort();
}

void HttpServer::State::run() {
  for (const auto& each : ports) await_clients(*each);
  finish_if_empty();
  for (;;) {
    try {
      loop.run();
      return;
    } catch (const std::exception& error) {
      // Memory was short for a moment; connections left without a pending wait are picked up at the next tick.
      base::log(base::LogLevel::error, "the server's loop goes on after an error", {{"reason", error.what()}});
    }
  }
}

void HttpServer::State::await_clients(Port& each) {
  each.readiness.async_wait(asio::posix::descriptor_base::wait_read, [this, &each](const error_code& error) {
    if (!error && !context.stopping) accept_clients(each);  // a stopping server has no ports left
  });
}

// Without descriptors or memory the socket stays readable, so waiting for readability would busy-loop.
void HttpServer::State::await_clients_later(Port& each) {
  each.paused = true;
  accept_timer.expires_after(kAcceptPause);
  accept_timer.async_wait([this](const error_code& error) {
    if (error) return;
    for (const auto& port_of : ports) {
      if (std::exchange(port_of->paused, false)) await_clients(*port_of);
    }
  });
}

void HttpServer::State::accept_clients(Port& each) {
  // All pending connections are accepted, and surplus ones closed at once: left in the system's queue they would block
  // others.
  for (int accepts = 0; accepts < kAcceptsPerTurn; ++accepts) {
    Accepted accepted;
    const AcceptStatus status = each.listener->accept(accepted);
    if (status == AcceptStatus::none) break;
    if (status == AcceptStatus::exhausted) {
      if (free_descriptor()) continue;
      base::log(base::LogLevel::warn, "cannot take another connection: no descriptor or memory is left");
      return await_clients_later(each);
    }
    try {
      add_session(each, std::move(accepted));
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, "connection dropped", {{"reason", error.what()}});
    }
  }
  await_clients(each);
}

HttpServer::State::Room HttpServer::State::room_for(const Port& each, const ClientAccount& client) {
  const std::size_t more = each.health ? kHealthConnections : 0;
  const bool has_share =
      client.connections >= client_share(settings.max_connections, settings.max_client_percent, 1) + more;
  if (!has_share && sessions.size() - surplus < settings.max_connections + more) return Room::within_limit;
  const auto now = Clock::now();
  const auto other = next_to_shed(
      [&](const Connection& connection) { return shed_connection_rank(connection, client, has_share, now); });
  if (other && !context.stopping && other->connection->close_if_waiting()) {
    drop(other);
    return Room::within_limit;
  }
  const bool has_surplus = client.surplus_connections >= kClientSurplusConnections;
  return surplus < kSurplusConnections && !has_surplus ? Room::surplus : Room::none;
}

// Frees a descriptor of the client that has the most; false if no client has more than one idle connection.
bool HttpServer::State::free_descriptor() {
  const ClientAccount nobody({}, context.held);
  const auto now = Clock::now();
  const auto other =
      next_to_shed([&](const Connection& connection) { return shed_connection_rank(connection, nobody, false, now); });
  if (!other || context.stopping || !other->connection->close_if_waiting()) return false;
  drop(other);
  return true;
}

// Scans all connections; only requests beyond the limits pay for it.
template <typename Rank>
std::shared_ptr<Session> HttpServer::State::next_to_shed(const Rank& rank) const {
  std::shared_ptr<Session> first;
  std::optional<ShedRank> highest;
  for (const std::shared_ptr<Session>& session : sessions) {
    const std::optional<ShedRank> own = rank(*session->connection);
    if (!own || (highest && *own <= *highest)) continue;
    highest = own;
    first = session;
  }
  return first;
}

bool HttpServer::State::make_body_room(const ClientAccount& client, std::size_t bytes) {
  const auto now = Clock::now();
  const auto rank = [&](const Connection& connection) { return shed_body_rank(connection, client, bytes, now); };
  const auto fits = [&](std::size_t less) {
    return context.held->bodies + bytes <= settings.max_total_body_bytes + less;
  };
  std::size_t all = 0;
  for (const std::shared_ptr<Session>& session : sessions) {
    if (const auto own = rank(*session->connection)) all += own->bytes;
  }
  if (!fits(all)) return false;
  while (!fits(0)) {
    const std::shared_ptr<Session> other = next_to_shed(rank);
    if (!other) return false;  // its memory has been taken over by others
    other->connection->refuse_body();
    asio::post(loop, [this, other] { go_on(other); });
  }
  return true;
}

void HttpServer::State::make_answer_room() {
  const auto now = Clock::now();
  while (context.held->answers > context.held->max_answers) {
    const std::shared_ptr<Session> other =
        next_to_shed([&](const Connection& connection) { return shed_answer_rank(connection, now); });
    // A single answer may exceed the limit: it is sent anyway.
    if (!other || other->connection->unread_answer().bytes >= context.held->answers) return;
    base::log(base::LogLevel::debug, "answer dropped, since too many are not read",
              {{"bytes", std::to_string(other->connection->unread_answer().bytes)}});
    other->connection->abort();
    // Deferred, because one of the sessions is currently in use.
    asio::post(loop, [this, other] { update(other); });
  }
}

void HttpServer::State::add_session(Port& each, Accepted accepted) {
  const std::shared_ptr<ClientAccount> account = context.accounts.find(client_of_address(accepted.peer));
  const Room room = room_for(each, *account);
  if (room == Room::none) {
    if (!each.secure) net::make_socket_stream(accepted.socket.number())->write(kTurnedAway, {});
    return;
  }
  auto session = std::make_shared<Session>(loop);
  session->socket.assign(accepted.socket.number());
  std::unique_ptr<net::Stream> stream = net::make_socket_stream(accepted.socket.release());
  if (each.secure) stream = tls->accept(std::move(stream));
  Connection::AnswerSink sink;
  sink.answer = [box = mailbox, weak = std::weak_ptr(session), this](std::uint64_t serial, Response response) {
    const std::lock_guard lock(box->mutex);
    if (box->loop == nullptr) return;
    asio::post(*box->loop, [this, weak, serial, response = std::move(response)]() mutable {
      const std::shared_ptr<Session> found = weak.lock();
      if (!found) return;
      found->connection->on_answer(serial, std::move(response));
      update(found);
    });
  };
  sink.more = [box = mailbox, weak = std::weak_ptr(session), this](std::uint64_t serial) {
    const std::lock_guard lock(box->mutex);
    if (box->loop == nullptr) return;
    asio::post(*box->loop, [this, weak, serial] {
      const std::shared_ptr<Session> found = weak.lock();
      if (!found) return;
      found->connection->on_more(serial);
      update(found);
    });
  };
  session->connection = std::make_unique<Connection>(
      context, std::move(stream), ConnectionFacts{accepted.peer, each.secure, each.health, room == Room::surplus},
      std::move(sink));
  session->place = sessions.insert(sessions.end(), session);
  session_count = sessions.size();
  if (room == Room::surplus) ++surplus;
  ++(room == Room::surplus ? account->surplus_connections : account->connections);
  if (!ticking) tick();
  session->connection->on_ready();
  update(session);
}

void HttpServer::State::go_on(const std::shared_ptr<Session>& session) {
  session->connection->on_ready();
  update(session);
}

// Arranges for the session to be called when its awaited event happens.
void HttpServer::State::update(const std::shared_ptr<Session>& session) {
  switch (session->connection->wish()) {
    case Connection::Wish::read:
      if (std::exchange(session->awaits_read, true)) return;
      session->socket.async_wait(asio::posix::descriptor_base::wait_read, [this, session](const error_code& error) {
        session->awaits_read = false;
        if (!error) go_on(session);
      });
      return;
    case Connection::Wish::write:
      if (std::exchange(session->awaits_write, true)) return;
      session->socket.async_wait(asio::posix::descriptor_base::wait_write, [this, session](const error_code& error) {
        session->awaits_write = false;
        if (!error) go_on(session);
      });
      return;
    case Connection::Wish::again:
      if (std::exchange(session->awaits_turn, true)) return;
      asio::post(loop, [this, session] {
        session->awaits_turn = false;
        go_on(session);
      });
      return;
    case Connection::Wish::answer: return;
    case Connection::Wish::close: drop(session); return;
  }
}

void HttpServer::State::drop(const std::shared_ptr<Session>& session) {
  session->connection->abort();
  if (session->place == sessions.end()) return;
  error_code ignored;
  session->socket.close(ignored);
  sessions.erase(std::exchange(session->place, sessions.end()));
  session_count = sessions.size();
  const bool was_surplus = session->connection->surplus();
  if (was_surplus) --surplus;
  ClientAccount& account = session->connection->account();
  --(was_surplus ? account.surplus_connections : account.connections);
  for (const auto& each : ports) {
    // Ports waiting for descriptors are also woken by their timer, which does no harm.
    if (std::exchange(each->paused, false)) await_clients(*each);
  }
  finish_if_empty();
}

void HttpServer::State::tick() {
  ticking = !sessions.empty();
  if (!ticking) return;
  const auto now = Clock::now();
  for (auto each = sessions.begin(); each != sessions.end();) {
    const std::shared_ptr<Session> session = *each++;  // removing it leaves the other iterators valid
    session->connection->on_tick(now);
    update(session);
  }
  ticker.expires_after(tick_period(settings));
  ticker.async_wait([this](const error_code& error) {
    if (!error) tick();
  });
}

void HttpServer::State::await_signal() {
  signals.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    await_signal();
    if (signal != SIGHUP) {
      if (context.stopping) return stop_now();
      return begin_stop();
    }
    try {
      if (tls) tls->reload();
      if (on_reload) on_reload();
    } catch (const std::exception& problem) {
      base::log(base::LogLevel::warn, "reloading failed, the server goes on as before", {{"reason", problem.what()}});
    }
  });
}

void HttpServer::State::begin_stop() {
  if (std::exchange(context.stopping, true)) return;
  context.handler.stopping();
  // Clients connected by now are answered, and requests that have arrived are not lost.
  for (const auto& each : ports) {
    each->readiness.cancel();
    accept_clients(*each);
  }
  ports.clear();
  accept_timer.cancel();
  for (auto each = sessions.begin(); each != sessions.end();) {
    const std::shared_ptr<Session> session = *each++;
    session->connection->on_stop();
    update(session);
  }
  stop_timer.expires_after(settings.shutdown_timeout);
  stop_timer.async_wait([this](const error_code& error) {
    if (!error) stop_now();
  });
  finish_if_empty();
}

void HttpServer::State::stop_now() {
  if (!std::exchange(context.stopping, true)) context.handler.stopping();
  ports.clear();
  accept_timer.cancel();
  for (auto each = sessions.begin(); each != sessions.end();) drop(std::shared_ptr<Session>(*each++));
  finish_if_empty();
}

// The loop ends by itself once nothing is pending.
void HttpServer::State::finish_if_empty() {
  if (!context.stopping || !sessions.empty()) return;
  error_code ignored;
  signals.cancel(ignored);
  ticker.cancel();
  stop_timer.cancel();
}

HttpServer::HttpServer(TransportSettings settings, RequestHandler& handler)
    : state_(std::make_unique<State>(std::move(settings), handler)) {}
HttpServer::~HttpServer() = default;

std::vector<std::string> HttpServer::endpoints() const { return state_->endpoints; }
std::uint16_t HttpServer::port() const { return state_->port; }
std::uint16_t HttpServer::health_port() const { return state_->health_port; }

void HttpServer::handle_signals(std::function<void()> on_reload) {
  state_->on_reload = std::move(on_reload);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) state_->signals.add(signal);
  state_->await_signal();
}

void HttpServer::run() { state_->run(); }
void HttpServer::stop() {
  asio::post(state_->loop, [state = state_.get()] { state->begin_stop(); });
}
void HttpServer::stop_now() {
  asio::post(state_->loop, [state = state_.get()] { state->stop_now(); });
}
void HttpServer::reload_tls() {
  if (state_->tls) state_->tls->reload();
}
std::size_t HttpServer::connections() const { return state_->session_count; }
std::size_t HttpServer::body_bytes() const { return state_->context.held->bodies; }
std::size_t HttpServer::answer_bytes() const { return state_->context.held->answers; }

}  // namespace alate::server
