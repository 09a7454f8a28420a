// A few threads for work that would hold up the transport's: large bodies, large answers, loading models.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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
  /// As the destructor; not from the queue's own threads, nor from two threads at once. Idempotent.
  void stop();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace alate::server
