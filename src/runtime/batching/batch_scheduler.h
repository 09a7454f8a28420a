// Merges the rows of many requests into batches for one model: by a budget of tokens, fairly between clients, and
// without computing what nobody waits for any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alate/cancellation.h"
#include "alate/tensor.h"

namespace alate::runtime {

/// One text as token ids, specials included.
struct BatchRow {
  std::vector<std::int32_t> ids;
  std::int32_t pool_skip = 0;  // leading tokens that pooling leaves out
};

struct BatchResult {
  std::exception_ptr error;   // an alate::Error; then `values` is empty
  std::vector<float> values;  // [rows, width]: row i is that of the job's row i
  std::size_t width = 0;
  std::chrono::nanoseconds queue{};    // from submit until the first of its rows was taken into a batch
  std::chrono::nanoseconds compute{};  // from then until the last was done
};

/// What one request wants of a model. Either rows, or a task of its own.
struct BatchJob {
  using Clock = std::chrono::steady_clock;

  std::uint64_t program = 0;   // rows of different programs are never in one batch
  std::vector<BatchRow> rows;  // none: done at once
  // Instead of rows: runs alone on the scheduler's thread, `tokens` long. Cancelled once nobody waits for it.
  std::function<void(Cancellation)> task;
  std::size_t tokens = 0, row_length = 0;                 // of a task, and of its longest row, for fairness
  std::string client;                                     // each client gets the same share of the tokens
  Clock::time_point deadline = Clock::time_point::max();  // once it is over the job fails with deadline_exceeded, unrun
  /// Called exactly once, with the result or an error, unless the job is cancelled: on the scheduler's thread, or in
  /// `submit` itself. It must be short and must not throw; it may submit and cancel.
  std::function<void(BatchResult)> done;
};

struct BatchSchedulerOptions {
  std::size_t max_tokens = 2048;        // of one batch; a longer row is a batch of its own
  std::size_t even_row_length = 2304;   // of rows whose attention is half of their work: batch_work.h
  std::chrono::nanoseconds max_wait{};  // how long a batch that is not full waits for more rows
  std::size_t cache_size = 0;           // results of rows that are kept; 0: none
  std::chrono::nanoseconds cache_ttl = std::chrono::minutes(5);
};

/// What happened, for metrics. Called on the scheduler's thread, or in `submit`, without a lock.
struct BatchObserver {
  std::function<void(std::size_t rows, std::size_t tokens, std::chrono::nanoseconds compute)> ran;
  std::function<void()> cache_hit;  // a row was answered by the cache, or joined an equal one under way
  std::function<void()> expired;    // a job's deadline passed in the queue
};

/// One a model, with a thread of its own. Thread-safe. The next batch is chosen at the moment the model is free, from
/// all that has arrived by then; what is over the budget stays for the one after.
///
/// Fairness: clients take turns, and within a client its jobs do, each adding a quantum of tokens (a quarter of the
/// budget, or one row) a turn: a job of thousands of rows delays a small one by one batch at most, whoever sent it.
/// Long rows are charged for the square of their length too, which is attention's work.
///
/// Equal rows (program, ids, pool_skip) of jobs under way are computed once and given to all that want them.
class BatchScheduler {
 public:
  using Clock = BatchJob::Clock;
  using Rows = std::span<const BatchRow* const>;
  /// Computes a batch: f32 [rows, width]. It is cancelled when no job waits for any of the rows, and may then
  /// throw anything. When it throws for a batch of several rows, each row is tried alone, so that only those
  /// fail that must.
  using Run = std::function<Tensor(std::uint64_t program, Rows rows, Cancellation cancellation)>;

  BatchScheduler(Run run, const BatchSchedulerOptions& options, BatchObserver observer = {});
  /// As `stop`.
  ~BatchScheduler();
  BatchScheduler(const BatchScheduler&) = delete;
  BatchScheduler& operator=(const BatchScheduler&) = delete;

  /// Fails what is left with `cancelled`, and what is submitted from now on; waits for a batch under way and for the
  /// last callback. One of its own callbacks may call this, which then waits for nothing. Idempotent; not from two
  /// threads at once.
  void stop() noexcept;

  /// Names the job for `cancel`. The same number is never given twice.
  std::uint64_t submit(BatchJob job);
  /// Drops a job: its `done` is not called any more, once this returns, unless it is running at the moment. Rows that
  /// other jobs want stay. Unknown and finished jobs are ignored.
  void cancel(std::uint64_t job);

  struct Depth {
    std::size_t jobs = 0, rows = 0, tokens = 0;  // waiting or under way
    std::chrono::nanoseconds running{};          // for how long the call of the model has been under way; 0: none is
  };
  Depth depth() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // the thread's too
};

}  // namespace alate::runtime
