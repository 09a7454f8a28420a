// Merges the rows of many requests into batches for one model: within a token budget, fairly between clients, and
// without computing rows that no job waits for any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/batch_hint.h"
#include "base/threads/cancellation.h"
#include "runtime/batching/batch_program.h"

namespace alate::runtime {

struct BatchResult {
  std::exception_ptr error;            // an alate::Error; `values` is then empty
  std::vector<float> values;           // of all rows of the job, one after the other
  std::vector<std::size_t> starts;     // where each row's values begin, and the end of the last
  std::chrono::nanoseconds queue{};    // from submit until the first of its rows was taken into a batch
  std::chrono::nanoseconds compute{};  // from then until the last was done
};

/// The work that one request wants from a model: either rows, or a task of its own.
struct BatchJob {
  using Clock = std::chrono::steady_clock;

  std::shared_ptr<const BatchProgram> program;  // of the rows; rows of different programs are never in one batch
  std::vector<BatchRow> rows;                   // none: done at once
  // Instead of rows: a task of `tokens` tokens that runs alone on the scheduler's thread. Cancelled once nobody waits
  // for it.
  std::function<void(base::Cancellation)> task;
  std::size_t tokens = 0, row_length = 0;                 // of a task and of its longest row, for fairness
  std::string client;                                     // each client gets the same share of the tokens
  Clock::time_point deadline = Clock::time_point::max();  // a job still queued by then fails with deadline_exceeded
  /// Called exactly once, with the result or an error, unless the job is cancelled: on the scheduler's thread, or in
  /// `submit` itself. It must be short and must not throw; it may submit and cancel.
  std::function<void(BatchResult)> done;
};

struct BatchSchedulerOptions {
  std::size_t max_tokens = backends::BatchHint().rows;  // of one batch; a longer row is a batch of its own
  std::size_t even_row_length = 2304;   // row length at which attention is half of the work: batch_work.h
  std::chrono::nanoseconds max_wait{};  // how long a partly filled batch waits for more rows
  std::size_t cache_size = 0;           // number of row results kept; 0: no cache
  std::chrono::nanoseconds cache_ttl = std::chrono::minutes(5);
};

/// Events for metrics. Called on the scheduler's thread, or in `submit`, without a lock held.
struct BatchObserver {
  std::function<void(std::size_t rows, std::size_t tokens, std::chrono::nanoseconds compute)> ran;
  std::function<void()> cache_hit;  // a row was answered by the cache, or joined an equal one under way
  std::function<void()> expired;    // a job's deadline passed in the queue
};

/// One per model, with a thread of its own. Thread-safe. The next batch is chosen when the model becomes free, from all
/// rows that have arrived by then; rows beyond the budget wait for the batch after it.
///
/// Fairness: clients take turns, and so do the jobs of a client; each turn adds a quantum of tokens (a quarter of the
/// budget, or one row). So a job of thousands of rows delays a small one by one batch at most, whoever sent it. Long
/// rows are also charged for the square of their length, which is attention's work.
///
/// Equal rows (of one program) of unfinished jobs are computed once and given to all that want them. A run is cancelled
/// when no job waits for any of its rows, and may then throw anything. When it throws for a batch of several rows, each
/// row is retried alone, so that only the faulty ones fail.
class BatchScheduler {
 public:
  using Clock = BatchJob::Clock;
  explicit BatchScheduler(const BatchSchedulerOptions& options, BatchObserver observer = {});
  /// As `stop`.
  ~BatchScheduler();
  BatchScheduler(const BatchScheduler&) = delete;
  BatchScheduler& operator=(const BatchScheduler&) = delete;

  /// Fails all unfinished and future jobs with `cancelled`; waits for the current batch and for the last callback. May
  /// be called from one of its own callbacks, and then waits for nothing. Idempotent; not from two threads at once.
  void stop() noexcept;

  /// Returns an id for `cancel`. Ids are never reused.
  std::uint64_t submit(BatchJob job);
  /// Drops a job: once this returns its `done` is not called any more, unless that call is running at the moment. Rows
  /// that other jobs want stay. Unknown and finished jobs are ignored.
  void cancel(std::uint64_t job);

  struct Depth {
    std::size_t jobs = 0, rows = 0, tokens = 0;  // waiting or running
    std::chrono::nanoseconds running{};          // duration of the model's current call so far; 0: none
  };
  Depth depth() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace alate::runtime
