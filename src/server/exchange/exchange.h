// One request on its way through the server, from the last byte of its body to the last byte of its single answer.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/cancellation.h"
#include "base/threads/mutex.h"
#include "server/exchange/client_account.h"
#include "server/exchange/http_message.h"

namespace alate::server {

using Clock = std::chrono::steady_clock;

/// Time a request spent in each stage; zero for stages it never entered.
struct StageTimes {
  // Waiting for others: for its turn, for the server's work threads, and until its first row joined a batch.
  std::chrono::nanoseconds queue{};
  std::chrono::nanoseconds tokenize{};
  std::chrono::nanoseconds compute{};
  std::chrono::nanoseconds format{};  // of the answer
  bool computed = false;              // whether it reached a model at all
};

/// Thread-safe except for `stages`, which belongs to the thread working on the request until it is answered.
class Exchange {
 public:
  /// `send` is called at most once, from any thread, with the answer. It must not call back into the exchange.
  Exchange(Request request, std::string id, Clock::time_point deadline, std::function<void(Response)> send);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Request& request() const { return request_; }
  /// Drops the body once it has been read: it may be large, and the answer may take a long time.
  void release_body();
  const std::string& id() const { return id_; }
  Clock::time_point received() const { return received_; }
  Clock::time_point deadline() const { return deadline_; }  // Clock::time_point::max() without one
  /// Identity of the client. Set by the transport before it hands the exchange over.
  ClientId client_id;
  std::shared_ptr<ClientAccount> account;  // null where nothing is accounted
  /// The client's name for the models' batches. Set by the application.
  std::string client;
  /// Whether the request presented a key with the role admin. Set by the application.
  bool is_admin = false;
  /// Whether the client may have models unloaded that others use too: an administrator, or without keys a client on the
  /// server's own machine. Set by the application.
  bool may_unload = false;
  StageTimes stages;
  /// Extra headers for the answer. Set before the exchange is handed over, and by the thread working on the request.
  std::vector<Headers::Entry> answer_headers;

  /// Keeps `place`, such as its admission slot, alive while the request is in flight. Released when the exchange is
  /// finished or abandoned; at once if it already is.
  void hold(std::shared_ptr<void> place);

  /// Sends the answer, with Server-Timing if a model was involved. Only the first call has an effect, and none after
  /// `abandon`.
  void reply(Response response);

  /// As `reply`, with a body that is written from now on. The request's deadline no longer counts, but a client that
  /// does not read for the transport's timeouts is given up; hooks of `on_abandon` stay until the last byte has been
  /// sent. A producer that may be silent for long writes something now and then: a client that has left while nothing
  /// is sent to it is not always noticed. The writer is `gone` from the start where `reply` would have no effect.
  [[nodiscard]] AnswerWriter begin(Response head);

  /// The answer has been written or the client has gone: releases everything held for the request. Called by the
  /// transport.
  void finish() noexcept;
  /// The client has gone or the deadline has passed: no answer, or no more of one that was begun, will be sent, and the
  /// hooks run. Called by the transport.
  void abandon();
  bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
  /// Requested once nobody waits for the answer: the exchange is abandoned, or its deadline has passed. Valid as long
  /// as the exchange; not for what goes on after `begin`, when the deadline no longer counts.
  base::Cancellation cancellation() const { return base::Cancellation::when(question_); }
  /// `hook` runs once with the answer's status before it is sent, on the answering thread, or with 0 when the exchange
  /// is abandoned, on the abandoning thread, where it must not use `stages`. Replaces an earlier one; dropped if the
  /// exchange has ended.
  void on_end(std::function<void(int status)> hook);
  /// `hook` runs when the exchange is abandoned, on the abandoning thread; at once if it already is. Hooks are dropped
  /// without running when the exchange is answered, by a stream when that has ended.
  void on_abandon(std::function<void()> hook);

 private:
  struct Question {
    const Exchange* exchange;
    bool operator()() const { return exchange->abandoned() || Clock::now() >= exchange->deadline_; }
  };

  void answer(Response response, bool streams);

  Request request_;
  const std::string id_;
  const Clock::time_point received_ = Clock::now();
  const Clock::time_point deadline_;
  const Question question_{this};
  mutable base::Mutex mutex_;
  std::function<void(Response)> send_;   // empty once answered or abandoned
  std::atomic<bool> abandoned_ = false;  // written under the lock
  bool finished_ = false, streams_ = false;
  std::shared_ptr<void> place_;
  std::vector<std::function<void()>> hooks_;
  std::function<void(int)> end_;
};

}  // namespace alate::server
