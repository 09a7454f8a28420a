// A request on its way through the server, from the last byte of its body to its one answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"
#include "server/clients/client_account.h"
#include "server/http/http_message.h"

namespace alate::server {

using Clock = std::chrono::steady_clock;

/// How long a request was in each stage; zero where it was in none.
struct StageTimes {
  std::chrono::nanoseconds queue{};  // until its first row was taken into a batch, admission included
  std::chrono::nanoseconds tokenize{};
  std::chrono::nanoseconds compute{};
  bool computed = false;  // whether it came to a model at all
};

/// Thread-safe but for `stages`, which belongs to whoever works on the request until it is answered.
class Exchange {
 public:
  /// `send` is called at most once, from any thread, with the answer. It must not call back into the exchange.
  Exchange(Request request, std::string id, Clock::time_point deadline, std::function<void(Response)> send);

  const Request& request() const { return request_; }
  /// Drops the body once it has been read: it may be large, and the answer may take long.
  void release_body();
  const std::string& id() const { return id_; }
  Clock::time_point received() const { return received_; }
  Clock::time_point deadline() const { return deadline_; }  // Clock::time_point::max() without one
  /// Who asks: set by the transport, before the exchange is given on.
  ClientId client_id;
  std::shared_ptr<const ClientAccount> account;  // null where nothing is counted
  /// The same for the models' batches, set by the application.
  std::string client;
  /// Whether it showed a key with the role admin. Set by the application.
  bool is_admin = false;
  StageTimes stages;
  /// Headers that the answer gets besides its own. Set before the exchange is given on.
  std::vector<Headers::Entry> answer_headers;

  /// Keeps something for as long as the request is under way, such as its place among those that compute: let go when
  /// the exchange is finished or abandoned, at once when it already is.
  void hold(std::shared_ptr<void> place);

  /// Sends the answer, with Server-Timing where a model was asked. Only the first call counts, and none after
  /// `abandon`.
  void reply(Response response);

  /// The answer has been written, or its client has gone: nothing is held for the request any more. Called by the
  /// transport.
  void finish() noexcept;
  /// The client has gone or its time is up: no answer will be sent, and the hooks run. Called by the transport.
  void abandon();
  bool abandoned() const;
  /// Called when the exchange is abandoned, on the thread that does it; at once when it already is. Hooks are dropped
  /// unrun when the exchange is answered.
  void on_abandon(std::function<void()> hook);

 private:
  Request request_;
  const std::string id_;
  const Clock::time_point received_ = Clock::now();
  const Clock::time_point deadline_;
  mutable base::Mutex mutex_;
  std::function<void(Response)> send_;  // empty once answered or abandoned
  bool abandoned_ = false, finished_ = false;
  std::shared_ptr<void> place_;
  std::vector<std::function<void()>> hooks_;
};

}  // namespace alate::server
