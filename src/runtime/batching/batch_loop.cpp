// A scheduler's thread: when the next batch begins, running it, and giving out its values.
#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/error_copy.h"
#include "runtime/batching/batch_scheduler_state.h"
#include "runtime/batching/current_error.h"

namespace alate::runtime {
namespace {

using Clock = BatchJob::Clock;
using RowState = SharedRow::State;

// Of a row: the cache is counted in rows, and those that have values for each token would fill the memory.
constexpr std::size_t kMostCachedValues = 8192;

void require_count(const Tensor& values, std::size_t rows, std::size_t count) {
  if (values.dtype() != DType::f32 || values.element_count() != static_cast<std::int64_t>(count))
    throw make_error(ErrorCode::internal, "a batch of ", rows, " rows gave ", to_string(values.shape()),
                     " and not its ", count, " numbers");
}

}  // namespace

void BatchScheduler::State::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    call_done(lock);
    const Clock::time_point now = Clock::now();
    expire(now);
    if (!finished.empty()) continue;
    if (stopping) return;
    if (const Clock::time_point begin = begin_at(); begin > now) {
      sleep_until(lock, std::min(begin, next_deadline));
      continue;
    }
    batch.rows.clear();
    batch.tokens = 0;
    batch.task = nullptr;
    queue.take(batch);
    if (batch.task != nullptr) {
      run_task(lock);
    } else if (!batch.rows.empty()) {
      run_rows(lock);
    }
  }
}

void BatchScheduler::State::call_done(std::unique_lock<std::mutex>& lock) {
  while (!finished.empty()) {
    // Removed from the lists under the lock: from here on, it is too late to cancel it.
    Jobs job;
    job.splice(job.begin(), finished, finished.begin());
    by_id.erase(job.front().id);
    lock.unlock();
    if (job.front().job.done) job.front().job.done(std::move(job.front().result));
    job.clear();
    lock.lock();
  }
  if (expired == 0) return;
  const std::size_t count = std::exchange(expired, 0);
  lock.unlock();
  for (std::size_t i = 0; observer.expired && i < count; ++i) observer.expired();
  lock.lock();
}

void BatchScheduler::State::expire(Clock::time_point now) {
  if (now < next_deadline) return;
  next_deadline = Clock::time_point::max();
  for (auto place = jobs.begin(); place != jobs.end();) {
    QueuedJob& job = *place++;
    if (job.job.deadline > now) {
      next_deadline = std::min(next_deadline, job.job.deadline);
      continue;
    }
    ++expired;
    finish(job, std::make_exception_ptr(
                    Error(ErrorCode::deadline_exceeded,
                          "the time for this request was over before it was computed; try again when less is "
                          "going on, or allow it more time")));
  }
}

// When the next batch may begin; a time in the past for at once.
Clock::time_point BatchScheduler::State::begin_at() const {
  if (queue.empty()) return Clock::time_point::max();
  if (options.max_wait <= std::chrono::nanoseconds{0} || queued_tokens >= options.max_tokens || queue.has_task())
    return Clock::time_point::min();
  // A client whose last job has just left the queue keeps its place in it until the next batch: then none waits.
  const Clock::time_point oldest = queue.oldest();
  return oldest == Clock::time_point::max() ? oldest : oldest + options.max_wait;
}

void BatchScheduler::State::sleep_until(std::unique_lock<std::mutex>& lock, Clock::time_point when) {
  sleeping = true;
  const auto woken = [this] { return !sleeping; };
  if (when == Clock::time_point::max()) {
    news.wait(lock, woken);
  } else {
    news.wait_until(lock, when, woken);
  }
  sleeping = false;
}

void BatchScheduler::State::run_task(std::unique_lock<std::mutex>& lock) {
  QueuedJob& job = *batch.task;
  const std::uint64_t id = job.id;
  // Moved out, since cancelling destroys the job while its task still runs.
  auto task = std::exchange(job.job.task, nullptr);
  job.begun = Clock::now();
  running_task = &job;
  call_begun = job.begun;
  wanted.store(1, std::memory_order_relaxed);
  lock.unlock();
  std::exception_ptr error;
  try {
    task(base::Cancellation::when(is_unwanted));
  } catch (...) {
    error = current_error();
  }
  task = nullptr;
  lock.lock();
  running_task = nullptr;
  call_begun.reset();
  const auto found = by_id.find(id);
  if (found != by_id.end() && !found->second->finished) finish(*found->second, std::move(error));
}

void BatchScheduler::State::run_rows(std::unique_lock<std::mutex>& lock) {
  const Clock::time_point begun = Clock::now();
  views.clear();
  for (const auto& row : batch.rows) {
    views.push_back(&row->content);
    queued_tokens -= row->tokens();
    for (RowSlot* slot = row->waiting; slot != nullptr; slot = slot->next) {
      if (!slot->job->begun) slot->job->begun = begun;
    }
  }
  Tensor values;
  std::size_t count = 0;
  for (const auto& row : batch.rows) count += row->width;
  const std::exception_ptr error = compute(lock, views, batch.tokens, count, values);
  if (error == nullptr) {
    const Clock::time_point now = Clock::now();
    std::span<const float> rest = values.values<float>();
    for (const auto& row : batch.rows) {
      const std::size_t width = row->width;
      deliver(*row, rest.first(width), now);
      rest = rest.subspan(width);
    }
  } else if (batch.rows.size() == 1) {
    fail(*batch.rows.front(), error);
  } else {
    for (const auto& row : batch.rows) {
      if (row->state == RowState::running) row->state = RowState::taken;
    }
    for (const auto& row : batch.rows) run_alone(lock, *row);
  }
  batch.rows.clear();
}

// Runs a row of a failed batch by itself.
void BatchScheduler::State::run_alone(std::unique_lock<std::mutex>& lock, SharedRow& row) {
  expire(Clock::now());
  if (row.state != RowState::taken) return;
  row.state = RowState::running;
  const BatchRow* view = &row.content;
  Tensor values;
  const std::exception_ptr error = compute(lock, {&view, 1}, row.tokens(), row.width, values);
  if (error == nullptr) {
    deliver(row, values.values<float>(), Clock::now());
  } else {
    fail(row, error);
  }
}

// Calls the model without the lock; it gives `count` values. Returns its error, or null.
std::exception_ptr BatchScheduler::State::compute(std::unique_lock<std::mutex>& lock,
                                                  std::span<const BatchRow* const> rows, std::size_t tokens,
                                                  std::size_t count, Tensor& values) {
  const std::shared_ptr<const BatchProgram> program = batch.rows.front()->program;
  wanted.store(rows.size(), std::memory_order_relaxed);
  const Clock::time_point begun = Clock::now();
  call_begun = begun;
  lock.unlock();
  std::exception_ptr error;
  try {
    values = program->run_rows(rows, {.cancellation = base::Cancellation::when(is_unwanted)});
    require_count(values, rows.size(), count);
  } catch (...) {
    error = current_error();
  }
  if (observer.ran) observer.ran(rows.size(), tokens, Clock::now() - begun);
  lock.lock();
  call_begun.reset();
  return error;
}

void BatchScheduler::State::deliver(SharedRow& row, std::span<const float> values, Clock::time_point now) {
  close(row);
  while (row.waiting != nullptr) {
    RowSlot& slot = *row.waiting;
    QueuedJob& job = *slot.job;
    try {
      const auto i = static_cast<std::size_t>(&slot - job.slots.data());
      place_values(job, i, values);
    } catch (...) {
      finish(job, current_error());
      continue;
    }
    leave(slot);
    if (--job.remaining == 0) finish(job, nullptr);
  }
  if (values.size() > kMostCachedValues) return;
  try {
    cache.put(row.hash, row.program, std::move(row.content), values, now);
  } catch (const std::bad_alloc&) {
    // Not cached, then; the row's jobs have their values.
  }
}

void BatchScheduler::State::fail(SharedRow& row, const std::exception_ptr& error) {
  close(row);
  while (row.waiting != nullptr) finish(*row.waiting->job, base::copy_of(error));
}

}  // namespace alate::runtime
