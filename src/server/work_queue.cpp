#include "server/work_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/error.h"

namespace alate::server {

WorkQueue::WorkQueue(std::size_t threads) {
  const std::size_t count = std::max<std::size_t>(threads, 1);
  threads_.reserve(count);
  running_.resize(count);
  try {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error& error) {
    stop();
    throw make_error(ErrorCode::resource_exhausted, "cannot start ", count, " threads; allow this process more of them")
        .with_cause(error);
  }
}

WorkQueue::~WorkQueue() { stop(); }

void WorkQueue::stop() {
  std::deque<Waiting> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  ready_.notify_all();
  dropped.clear();  // without the lock: destroying the work may run arbitrary code
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkQueue::push(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back({std::move(work), Clock::now()});
  // Notify under the lock: the answer to this work may cause another thread to destroy the queue before this one
  // returns.
  ready_.notify_one();
}

std::chrono::nanoseconds WorkQueue::longest_wait() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() ? Clock::duration{} : Clock::now() - waiting_.front().since;
}

std::chrono::nanoseconds WorkQueue::longest_run() const {
  const std::lock_guard lock(mutex_);
  Clock::duration longest{};
  for (const auto& since : running_) {
    if (since) longest = std::max(longest, Clock::now() - *since);
  }
  return longest;
}

void WorkQueue::serve(std::size_t thread) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    // Moved into this block, so that anything the work holds is released before the next wait.
    std::function<void()> work = std::move(waiting_.front().work);
    waiting_.pop_front();
    running_[thread] = Clock::now();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    running_[thread].reset();
  }
}

}  // namespace alate::server
