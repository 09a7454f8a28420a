#include "server/work_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/error.h"

namespace alate::server {

WorkQueue::WorkQueue(std::size_t threads) {
  const std::size_t count = std::max<std::size_t>(threads, 1);
  threads_.reserve(count);
  try {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error& error) {
    stop();
    throw make_error(ErrorCode::resource_exhausted, "cannot start ", count, " threads; allow this process more of them")
        .with_cause(error);
  }
}

WorkQueue::~WorkQueue() { stop(); }

void WorkQueue::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  ready_.notify_all();
  dropped.clear();  // without the lock: what it holds may be anything
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkQueue::push(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(work));
  // Under the lock: the answer to this work may let another thread destroy the queue before this one goes on.
  ready_.notify_one();
}

void WorkQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    // Moved into this block, so that what the work holds is gone before the next wait.
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace alate::server
