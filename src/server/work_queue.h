// A few threads for work that would hold up the transport's: large bodies, large answers, loading models.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/threads/mutex.h"

namespace alate::server {

/// Thread-safe. Work begins in the order it was given.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t threads);
  /// As `stop`.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// `work` must not throw. It is dropped once the queue has stopped.
  void push(std::function<void()> work);
  /// How long the work that is next has been waiting; 0 where none waits.
  std::chrono::nanoseconds longest_wait() const;
  /// How long the work has been running that a thread began first; 0 where none runs.
  std::chrono::nanoseconds longest_run() const;

  /// As the destructor; not from the queue's own threads, nor from two threads at once. Idempotent.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    std::function<void()> work;
    Clock::time_point since;
  };

  void serve(std::size_t thread);

  mutable base::Mutex mutex_;
  std::condition_variable ready_;
  std::deque<Waiting> waiting_;
  std::vector<std::optional<Clock::time_point>> running_;  // since when each thread is at its work
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace alate::server
