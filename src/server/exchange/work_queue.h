// A small thread pool for work that would block the transport's thread: whatever touches a model, large bodies and
// answers, loading models.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/mutex.h"
#include "server/exchange/client_id.h"
#include "server/exchange/exchange.h"

namespace alate::server {

/// Events for metrics. Called without a lock held, by the thread that takes or drops the work.
struct WorkObserver {
  std::function<void(std::chrono::nanoseconds waited)> taken;
  std::function<void()> dropped;  // work that nobody waits for any more, before a thread took it
};

/// Thread-safe.
///
/// Fairness: clients take turns, and the work of one client starts in its order. One client never has all threads (of
/// several): however long its work takes, one of them is free for the others. The server's own work counts as a client
/// that may have all of them.
///
/// Work for a request is dropped when the request is abandoned; once it runs, it must ask Exchange::cancellation in its
/// long loops. A request has one piece of work at a time here, so that the limits of requests and connections bound the
/// queue.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t threads, WorkObserver observer = {});
  /// As `stop`.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Work of the server's own. What `work` throws is logged. It is dropped once the queue has stopped.
  void push(std::function<void()> work) { push(std::optional<ClientId>(), std::move(work)); }
  /// The same in a client's turn, which others may wait for too; absent: the server's own.
  void push(const std::optional<ClientId>& client, std::function<void()> work);
  /// Work for a request, whose waiting time is added to its StageTimes::queue. The queue must outlive the exchange.
  void push(const std::shared_ptr<Exchange>& exchange, std::function<void()> work);

  /// Longest time that work of the server's own, or a client for which no thread works, has been waiting; 0 if there is
  /// none. Clients that wait for the end of their own work are not meant: that is their share.
  std::chrono::nanoseconds longest_wait() const;
  /// Longest time that work which belongs to no request has run, or that a request's has gone on since nobody waits for
  /// it any more; 0 if there is none. Work that ends when it is asked to is not long here.
  std::chrono::nanoseconds longest_run() const;

  struct Counts {
    std::size_t running = 0, waiting = 0;
  };
  Counts counts() const;

  /// As the destructor. Not to be called from the queue's own threads, nor from two threads at once. Idempotent.
  void stop();

 private:
  using Owner = std::optional<ClientId>;  // nothing: the server itself
  struct Work {
    std::function<void()> run;
    std::shared_ptr<Exchange> exchange;  // null: of no request
    Clock::time_point since;

    bool is_wanted() const { return exchange == nullptr || !exchange->abandoned(); }
  };
  struct Running {
    std::uint64_t number = 0;                   // of the work; 0: none
    std::optional<Clock::time_point> due = {};  // since when it should have ended
  };
  struct Client {
    std::map<std::uint64_t, Work> waiting;  // by number, in the order of `push`
    std::size_t running = 0;
  };
  using Clients = std::map<Owner, Client>;

  std::uint64_t enter(const Owner& owner, Work work);
  void forget(const Owner& owner, std::uint64_t number);
  void serve(std::size_t thread);
  Clients::iterator next_client();
  bool may_run(const Clients::value_type& client) const;
  void run(Work& work) const;

  const std::size_t thread_count_;
  const WorkObserver observer_;
  mutable base::Mutex mutex_;
  std::condition_variable ready_;
  Clients clients_;   // with work that waits or runs
  Owner last_owner_;  // whose work was taken last
  std::uint64_t last_number_ = 0;
  std::vector<Running> running_;  // per thread
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace alate::server
