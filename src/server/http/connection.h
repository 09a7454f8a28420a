// One client's connection: requests in, answers out, one after the other. All decisions about HTTP, time and size that
// need no operating system are here; the server's loop tells it what happened and asks what it waits for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/clients/client_account.h"
#include "server/exchange.h"
#include "server/http/request_handler.h"
#include "server/http/stream.h"
#include "server/http/transport_settings.h"

namespace alate::server {

class Connection;

/// What all connections of a server share, on its thread. Outlives them.
struct ConnectionContext {
  ConnectionContext(const TransportSettings& the_settings, RequestHandler& the_handler);

  const TransportSettings& settings;
  RequestHandler& handler;
  std::shared_ptr<HeldBytes> held;
  ClientAccounts accounts;
  const std::size_t max_client_bodies;
  std::vector<char> scratch = std::vector<char>(64 * 1024);  // read into, then copied out at once
  bool stopping = false;                                     // answers say Connection: close from now on

  /// Refuses bodies of clients that hold more than `client` until that many bytes have room; false when they have none.
  /// May be empty.
  std::function<bool(const ClientAccount& client, std::size_t bytes)> make_body_room;
  /// Ends connections whose answers are not read, until the others have room. May be empty.
  std::function<void()> make_answer_room;
};

struct ConnectionFacts {
  std::string peer;  // Request::peer
  bool secure = false;
  bool health_only = false;
  /// Beyond the limit of connections: one request for health is answered, any other refused.
  bool surplus = false;
};

/// Belongs to one thread; only the sink is called from others. While it is idle it holds no buffer and no parser.
class Connection {
 public:
  /// Called with an answer's request and the answer, at most once a request, from any thread: it must bring them to
  /// `on_answer` on the connection's thread, or drop them when the connection is no more.
  using AnswerSink = std::function<void(std::uint64_t serial, Response response)>;

  Connection(ConnectionContext& context, std::unique_ptr<Stream> stream, ConnectionFacts facts, AnswerSink sink);
  /// Abandons a request under way.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Wish : std::uint8_t {
    read,    // call on_ready when the socket is readable
    write,   // … writable
    again,   // … soon: there is more to do, but others are to have their turn
    answer,  // nothing but on_answer and on_tick will help
    close,   // it is over
  };
  Wish wish() const { return wish_; }
  bool idle() const { return state_ == State::idle; }

  /// Bytes that end with this connection.
  struct Holding {
    const ClientAccount* client = nullptr;  // null: it holds none
    std::size_t bytes = 0;
    Clock::time_point since;  // when the client last sent or took some
  };
  Holding unfinished_body() const;
  Holding unread_answer() const;
  /// The client's address's; keys do not count for connections.
  ClientAccount& account() const { return *account_; }
  bool surplus() const { return facts_.surplus; }
  bool has_answered() const { return has_answered_; }
  bool in_head() const { return state_ == State::head; }
  Clock::time_point idle_since() const { return since_; }

  /// Goes on as far as it can. Harmless when called without need.
  void on_ready();
  void on_answer(std::uint64_t serial, Response response);
  /// Looks at the clock and, while a request is computed, whether the client is still there. To be called often
  /// enough for the timeouts, 100 ms being enough for all but tests.
  void on_tick(Clock::time_point now);
  /// The server stops: ends now when no request is under way, else after the answer.
  void on_stop();
  /// Ends it at once, whatever is under way.
  void abort() { close(); }
  /// Refuses the body that it receives, since others need the room.
  void refuse_body();
  /// Ends it if no request has come, or not all of a head; whether it did.
  bool end_if_waiting();

 private:
  enum class State : std::uint8_t { idle, head, body, handling, writing, lingering, closed };
  struct Current;

  template <typename Action>
  void guarded(Action action);
  void advance();
  bool receive(std::size_t& turn);
  void take_input();
  void begin_request();
  void take_head();
  Response too_many_connections(const Request& head);
  void end_surplus();
  void take_body();
  void head_arrived();
  bool has_body_room(std::size_t bytes);
  void dispatch();
  void input_ended();
  void end_early(Response response);
  void refuse(const Refusal& refusal);
  Response refusal_answer(const Request& head, const Refusal& refusal);
  void respond(Response response, bool close);
  void send_interim();
  bool send(std::size_t& turn);
  void charge_answer();
  void finish_answer();
  bool drain(std::size_t& turn);
  void watch_client(Clock::time_point now);
  void report_served(int status);
  void close();
  const Request& request() const;
  std::string_view unread() const { return std::string_view(input_).substr(input_taken_); }

  ConnectionContext& context_;
  std::unique_ptr<Stream> stream_;
  ConnectionFacts facts_;
  std::shared_ptr<ClientAccount> account_;
  std::shared_ptr<const AnswerSink> sink_;
  // Small members stand together: there may be thousands of idle connections.
  State state_ = State::idle;
  Wish wish_ = Wish::read;
  bool input_is_new_ = false;     // bytes have come that the parser has not seen
  bool socket_is_empty_ = false;  // the last read got less than it asked for
  bool has_answered_ = false;
  std::uint8_t blank_lines_ = 0;  // before the next request
  std::string input_;             // received; from input_taken_ on not yet parsed
  std::size_t input_taken_ = 0;
  std::uint64_t serial_ = 0;  // of the request that was handed over last
  Clock::time_point since_;   // of the state idle or lingering
  std::size_t drained_ = 0;   // bytes thrown away while lingering
  std::unique_ptr<Current> current_;
};

}  // namespace alate::server
