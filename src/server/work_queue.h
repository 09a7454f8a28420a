// A small thread pool for work that would block the transport's thread: large bodies, large answers, loading models.
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

/// Thread-safe. Work starts in FIFO order.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t threads);
  /// As `stop`.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// `work` must not throw. It is dropped once the queue has stopped.
  void push(std::function<void()> work);
  /// Time that the work at the head of the queue has been waiting; 0 if none is waiting.
  std::chrono::nanoseconds longest_wait() const;
  /// Run time so far of the work that started earliest; 0 if none is running.
  std::chrono::nanoseconds longest_run() const;

  /// As the destructor. Not to be called from the queue's own threads, nor from two threads at once. Idempotent.
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
  std::vector<std::optional<Clock::time_point>> running_;  // per thread, when its current work started
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace alate::server
