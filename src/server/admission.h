// How many requests are worked on at a time, and how many may wait for it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/exchange.h"
#include "server/work_queue.h"

namespace alate::server {

/// Places among the requests under way. Who waits gets the next free one, clients in turn. Thread-safe; must outlive
/// every exchange that holds a place.
class Admission {
 public:
  /// `work` runs what has waited.
  Admission(std::size_t max_running, std::size_t max_waiting, WorkQueue& work);

  /// Calls `go` at once where a place is free, else later on the work queue, unless the exchange has been abandoned by
  /// then. False, and nothing will happen, when too many wait already. The exchange holds the place until it is
  /// answered or abandoned.
  bool enter(const std::shared_ptr<Exchange>& exchange, std::function<void()> go);

  struct Counts {
    std::size_t running = 0, waiting = 0;
  };
  Counts counts() const;

 private:
  struct Waiter {
    std::shared_ptr<Exchange> exchange;
    std::function<void()> go;
    Clock::time_point since;
  };

  std::shared_ptr<void> make_place();
  void leave();
  void forget(const Exchange* exchange);

  const std::size_t max_running_, max_waiting_;
  WorkQueue& work_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0, waiting_ = 0;
  std::map<std::string, std::deque<Waiter>> waiters_;  // by client
  std::string last_client_;                            // whose turn it was
};

}  // namespace alate::server
