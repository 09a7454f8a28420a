// One client connection: requests in, answers out, one at a time. All decisions about HTTP, time and size that need no
// operating system are made here; the server's event loop reports events and asks what the connection waits for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/stream.h"
#include "server/exchange/client_account.h"
#include "server/exchange/exchange.h"
#include "server/http/request_handler.h"
#include "server/http/transport_settings.h"

namespace alate::server {

class Connection;

/// State shared by all connections of a server, on its thread. Outlives them.
struct ConnectionContext {
  ConnectionContext(const TransportSettings& the_settings, RequestHandler& the_handler);

  const TransportSettings& settings;
  RequestHandler& handler;
  std::shared_ptr<HeldBytes> held;
  ClientAccounts accounts;
  const std::size_t max_client_bodies;
  std::vector<char> scratch = std::vector<char>(64 * 1024);  // read buffer; its contents are copied out immediately
  bool stopping = false;                                     // from now on answers say Connection: close

  /// Refuses bodies of clients that hold more than `client`, until `bytes` fit; false if there are none left to refuse.
  /// May be empty.
  std::function<bool(const ClientAccount& client, std::size_t bytes)> make_body_room;
  /// Closes connections whose answers are not read, until there is room for the other answers. May be empty.
  std::function<void()> make_answer_room;
};

struct ConnectionFacts {
  std::string peer;  // Request::peer
  bool secure = false;
  bool health_only = false;
  /// Over the connection limit: one health request is answered, any other is refused.
  bool surplus = false;
};

/// Belongs to one thread; only the sink is called from others. An idle connection holds no buffer and no parser.
class Connection {
 public:
  /// Both are called from any thread with a request's serial number, and must pass on what they get on the connection's
  /// thread, or drop it if the connection no longer exists.
  struct AnswerSink {
    std::function<void(std::uint64_t serial, Response response)> answer;  // to on_answer; at most once per request
    std::function<void(std::uint64_t serial)> more;                       // to on_more
  };

  Connection(ConnectionContext& context, std::unique_ptr<net::Stream> stream, ConnectionFacts facts, AnswerSink sink);
  /// Abandons a request in flight.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Wish : std::uint8_t {
    read,    // call on_ready when the socket is readable
    write,   // call on_ready when the socket is writable
    again,   // call on_ready soon: there is more to do, but other connections get their turn first
    answer,  // waiting for on_answer, on_more or on_tick only
    close,   // finished; close the connection
  };
  Wish wish() const { return wish_; }
  bool idle() const { return state_ == State::idle; }

  /// Bytes that would be freed by closing this connection.
  struct Holding {
    const ClientAccount* client = nullptr;  // null: nothing held
    std::size_t bytes = 0;
    Clock::time_point since;  // when the client last sent or read any
  };
  Holding unfinished_body() const;
  Holding unread_answer() const;
  /// The account of the client's address; keys do not count for connections.
  ClientAccount& account() const { return *account_; }
  bool surplus() const { return facts_.surplus; }
  bool has_answered() const { return has_answered_; }
  bool in_head() const { return state_ == State::head; }
  Clock::time_point idle_since() const { return since_; }

  /// Makes as much progress as possible. Harmless when called needlessly.
  void on_ready();
  void on_answer(std::uint64_t serial, Response response);
  /// A stream that had nothing to send has something again.
  void on_more(std::uint64_t serial);
  /// Checks timeouts and, while a request is being computed, whether the client is still there. Call often enough for
  /// the timeouts; every 100 ms suffices outside tests.
  void on_tick(Clock::time_point now);
  /// The server is stopping: closes now if no request is in flight, else after the answer.
  void on_stop();
  /// Closes the connection immediately, whatever is in flight.
  void abort() { close(); }
  /// Refuses the body being received, because others need the room.
  void refuse_body();
  /// Closes the connection if no request or only part of a head has arrived; returns whether it did.
  bool close_if_waiting();

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
  bool make_piece();
  void charge_answer();
  void finish_answer();
  bool drain(std::size_t& turn);
  void watch_client(Clock::time_point now);
  void watch_reader(Clock::time_point now);
  void report_served(int status);
  void close();
  const Request& request() const;
  std::string_view unread() const { return std::string_view(input_).substr(input_taken_); }

  ConnectionContext& context_;
  std::unique_ptr<net::Stream> stream_;
  ConnectionFacts facts_;
  std::shared_ptr<ClientAccount> account_;
  std::shared_ptr<const AnswerSink> sink_;
  // Small members are grouped: there may be thousands of idle connections.
  State state_ = State::idle;
  Wish wish_ = Wish::read;
  bool input_is_new_ = false;     // bytes have arrived that the parser has not seen
  bool socket_is_empty_ = false;  // the last read got less than it asked for
  bool has_answered_ = false;
  bool not_tls_ = false;          // it came without TLS to a port that speaks it, and is only told so
  std::uint8_t blank_lines_ = 0;  // before the next request
  std::string input_;             // received bytes; not yet parsed from input_taken_ on
  std::size_t input_taken_ = 0;
  std::uint64_t serial_ = 0;  // of the last request handed over
  Clock::time_point since_;   // when the state idle or lingering began
  std::size_t drained_ = 0;   // bytes discarded while lingering
  std::unique_ptr<Current> current_;
};

}  // namespace alate::server
