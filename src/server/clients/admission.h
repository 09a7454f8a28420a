// Admission control: how many requests run at a time, and how many may wait.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "base/threads/mutex.h"
#include "server/exchange/client_id.h"
#include "server/exchange/exchange.h"
#include "server/exchange/work_queue.h"

namespace alate::server {

/// Slots for running requests. An exchange holds its slot until its answer is written (Exchange::finish), so that
/// unread answers cannot pile up. No client gets more than its share of the slots or of the queue for them; free slots
/// go round-robin to waiting clients. Thread-safe; must outlive every exchange that holds a slot.
///
/// A request waits only for slots that others hold, or for its own client to read its answers
/// (ClientAccount::may_begin). Both end in bounded time, by the request and transfer timeouts, and do not depend on
/// waiting requests, so no request waits forever.
class Admission {
 public:
  enum class Outcome {
    begins,
    displaced,  // the queue is full, and a client with fewer waiting requests got its place
  };
  using Go = std::function<void(Outcome)>;

  /// `work` runs requests that had to wait. One client gets at most `client_percent` of the slots and of the queue.
  Admission(std::size_t max_running, std::size_t max_waiting, std::size_t client_percent, WorkQueue& work);

  /// Calls `go` at once if a slot is free; otherwise later on the work queue, unless the exchange has been abandoned by
  /// then. Returns false, and never calls `go`, if too many are waiting already. The exchange holds the slot until it
  /// is finished or abandoned.
  bool enter(const std::shared_ptr<Exchange>& exchange, Go go);

  /// Checks again whether a waiting request may begin. Call it periodically, because a request may also have been
  /// waiting for its client to read answers that held no slot.
  void wake();

  struct Counts {
    std::size_t running = 0, waiting = 0;
  };
  Counts counts() const;

 private:
  class Place;
  struct Waiter {
    std::shared_ptr<Exchange> exchange;
    Go go;
    Clock::time_point since;
    std::shared_ptr<Place> place;
  };
  struct Client {
    std::size_t running = 0;
    std::list<Waiter> waiters;
  };
  using Clients = std::map<ClientId, Client>;

  bool may_begin(const Client& client, const Exchange& exchange) const;
  void leave(const ClientId& id) noexcept;
  void forget(const Exchange& exchange);
  std::list<Waiter> displace_for(const Client& client);
  void begin_waiters(std::unique_lock<std::mutex>& lock) noexcept;
  std::list<Waiter> next_waiter();
  void hand_over(Waiter& waiter) noexcept;

  const std::size_t max_running_, max_waiting_, client_running_, client_waiting_;
  WorkQueue& work_;
  mutable base::Mutex mutex_;
  std::size_t running_ = 0, waiting_ = 0;
  Clients clients_;       // with running or waiting requests
  ClientId last_client_;  // last client served, for round-robin
  bool beginning_ = false;
};

}  // namespace alate::server
