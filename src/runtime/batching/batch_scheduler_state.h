// What a scheduler is made of, for its own files.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "alate/error.h"
#include "base/threads/mutex.h"
#include "runtime/batching/batch_cache.h"
#include "runtime/batching/batch_queue.h"
#include "runtime/batching/batch_scheduler.h"
#include "runtime/batching/model_thread.h"

namespace alate::runtime {

struct RowHash {
  std::size_t operator()(const SharedRow* row) const { return static_cast<std::size_t>(row->hash); }
};
struct RowEqual {
  bool operator()(const SharedRow* a, const SharedRow* b) const {
    return a->program == b->program && same_row(a->content, b->content);
  }
};

// Cancellation of the current call: true when no job waits for its results.
struct IsUnwanted {
  const std::atomic<std::size_t>& wanted;
  bool operator()() const { return wanted.load(std::memory_order_relaxed) == 0; }
};

/// Writes the values of row `i` to the job's result. Throws internal if they are not as many as the job expects.
void place_values(QueuedJob& job, std::size_t i, std::span<const float> values);

struct BatchScheduler::State {
  using Jobs = std::list<QueuedJob>;

  State(const BatchSchedulerOptions& chosen, BatchObserver watcher);

  const BatchSchedulerOptions options;
  const BatchObserver observer;
  const std::uint64_t seed;                                                    // of hashes, secret
  const Error unloading{ErrorCode::cancelled, "the model is being unloaded"};  // made before memory may be short

  base::Mutex mutex;
  std::condition_variable news;
  bool sleeping = false;  // the thread waits for news, and has not been woken
  bool stopping = false;
  std::uint64_t last_id = 0;
  Jobs jobs;                                                // unfinished, in order of arrival
  Jobs finished;                                            // whose `done` is to be called
  std::unordered_map<std::uint64_t, Jobs::iterator> by_id;  // jobs of both lists
  std::unordered_set<SharedRow*, RowHash, RowEqual> under_way;
  std::size_t row_tokens = 0, queued_tokens = 0, task_tokens = 0;
  BatchQueue queue;
  BatchCache cache;
  Clock::time_point next_deadline = Clock::time_point::max();  // no job's is earlier
  std::size_t expired = 0;                                     // expired jobs not yet reported to the observer
  const QueuedJob* running_task = nullptr;
  std::optional<Clock::time_point> call_begun;  // start of the current call of the model, or task

  // The number of rows in the current call that are still wanted, or whether the task is.
  std::atomic<std::size_t> wanted{0};
  const IsUnwanted is_unwanted{wanted};
  NextBatch batch;                     // used by the scheduler's thread only
  std::vector<const BatchRow*> views;  // the same
  ModelThread thread;

  // batch_jobs.cpp
  QueuedJob& prepare(BatchJob&& job, Jobs& out) const;
  std::size_t enter(QueuedJob& job);
  std::size_t enter_rows(QueuedJob& job);
  void leave(RowSlot& slot);
  void close(SharedRow& row);
  void detach(QueuedJob& job);
  void finish(QueuedJob& job, std::exception_ptr error);

  // batch_loop.cpp
  void serve();
  void call_done(std::unique_lock<std::mutex>& lock);
  void expire(Clock::time_point now);
  Clock::time_point begin_at() const;
  void sleep_until(std::unique_lock<std::mutex>& lock, Clock::time_point when);
  void run_task(std::unique_lock<std::mutex>& lock);
  void run_rows(std::unique_lock<std::mutex>& lock);
  void run_alone(std::unique_lock<std::mutex>& lock, SharedRow& row);
  std::exception_ptr compute(std::unique_lock<std::mutex>& lock, std::span<const BatchRow* const> rows,
                             std::size_t tokens, std::size_t count, Tensor& values);
  void deliver(SharedRow& row, std::span<const float> values, Clock::time_point now);
  void fail(SharedRow& row, const std::exception_ptr& error);
};

}  // namespace alate::runtime
