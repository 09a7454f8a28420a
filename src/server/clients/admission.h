// How many requests are worked on at a time, and how many may wait for it.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "base/threads/mutex.h"
#include "server/clients/client_id.h"
#include "server/exchange.h"
#include "server/work_queue.h"

namespace alate::server {

/// Places among the requests under way. An exchange holds its place until its answer is written (Exchange::finish), so
/// that answers which nobody reads cannot pile up. No client gets more than its share of the places, nor of the queue
/// for them; those who wait get free places in turn. Thread-safe; must outlive every exchange that holds a place.
///
/// A request waits for nothing but places that others hold, or for the reading of answers to its own client
/// (ClientAccount::may_begin). Both end in bounded time, by the times for requests and for transfers, and need nothing
/// of those who wait: so nobody waits for ever.
class Admission {
 public:
  enum class Outcome {
    begins,
    displaced,  // the queue is full, and its place there went to a client that has fewer
  };
  using Go = std::function<void(Outcome)>;

  /// `work` runs what has waited. `client_percent` of the places, and of those in the queue, are for one client at
  /// most.
  Admission(std::size_t max_running, std::size_t max_waiting, std::size_t client_percent, WorkQueue& work);

  /// Calls `go` at once where a place is free, else later on the work queue, unless the exchange has been abandoned by
  /// then. False, and nothing will happen, when too many wait already. The exchange holds the place until it is
  /// finished or abandoned.
  bool enter(const std::shared_ptr<Exchange>& exchange, Go go);

  /// Looks again whether somebody who waits may begin: to be called now and then, since a client may also have waited
  /// for the reading of answers that held no place.
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
  Clients clients_;       // that run or wait
  ClientId last_client_;  // whose turn it was
  bool beginning_ = false;
};

}  // namespace alate::server
