#include "runtime/batching/batch_scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "alate/error.h"
#include "base/error_copy.h"
#include "base/threads/mutex.h"
#include "runtime/batching/batch_cache.h"
#include "runtime/batching/batch_queue.h"

namespace alate::runtime {
namespace {

using Clock = BatchJob::Clock;
using RowState = SharedRow::State;

// Of a row: the cache is counted in rows, and those that have values for each token would fill the memory.
constexpr std::size_t kMostCachedValues = 8192;

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

std::exception_ptr as_pointer(const Error& error) { return std::make_exception_ptr(error); }

// The exception being handled, as an Error.
std::exception_ptr current_error() {
  try {
    throw;
  } catch (const Error&) {
    return std::current_exception();
  } catch (const std::bad_alloc&) {
    return as_pointer(Error(ErrorCode::resource_exhausted,
                            "there is not enough memory to compute this; send fewer or shorter inputs at a time"));
  } catch (const std::exception& error) {
    return as_pointer(Error(ErrorCode::internal, "computing failed").with_cause(error));
  } catch (...) {
    return as_pointer(Error(ErrorCode::internal, "computing failed with something that is no exception"));
  }
}

void require_count(const Tensor& values, std::size_t rows, std::size_t count) {
  if (values.dtype() != DType::f32 || values.element_count() != static_cast<std::int64_t>(count))
    throw make_error(ErrorCode::internal, "a batch of ", rows, " rows gave ", to_string(values.shape()),
                     " and not its ", count, " numbers");
}

// Writes the values of row `i` to the job's result.
void place_values(QueuedJob& job, std::size_t i, std::span<const float> values) {
  BatchResult& result = job.result;
  const std::size_t begin = result.starts[i], width = result.starts[i + 1] - begin;
  if (width != values.size())
    throw make_error(ErrorCode::internal, "a row gave ", values.size(), " values where its job expects ", width);
  if (result.values.empty()) result.values.resize(result.starts.back());
  std::ranges::copy(values, result.values.begin() + static_cast<std::ptrdiff_t>(begin));
}

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

struct BatchScheduler::State {
  using Jobs = std::list<QueuedJob>;

  State(const BatchSchedulerOptions& chosen, BatchObserver watcher)
      : options(chosen), observer(std::move(watcher)), queue(chosen), cache(chosen.cache_size, chosen.cache_ttl) {}

  const BatchSchedulerOptions options;
  const BatchObserver observer;
  const std::uint64_t seed = random_number();
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
  std::thread thread;

  QueuedJob& prepare(BatchJob&& job, Jobs& out) const;
  std::size_t enter(QueuedJob& job);
  std::size_t enter_rows(QueuedJob& job);
  void leave(RowSlot& slot);
  void close(SharedRow& row);
  void detach(QueuedJob& job);
  void finish(QueuedJob& job, std::exception_ptr error);

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

// Prepares a new job without the lock, as the one element of `out`.
QueuedJob& BatchScheduler::State::prepare(BatchJob&& job, Jobs& out) const {
  QueuedJob& made = out.emplace_back();
  made.job = std::move(job);
  made.submitted = Clock::now();
  made.slots.resize(made.job.rows.size());
  made.remaining = made.slots.size();
  made.result.starts.reserve(made.slots.size() + 1);
  made.result.starts.push_back(0);
  const RowWidth width = made.slots.empty() ? RowWidth() : made.job.program->width();
  for (std::size_t i = 0; i < made.slots.size(); ++i) {
    auto row = std::make_shared<SharedRow>();
    row->program = made.job.program;
    row->width = width.of(made.job.rows[i]);
    made.result.starts.push_back(made.result.starts.back() + row->width);
    row->content = std::move(made.job.rows[i]);
    row->hash = hash_row(seed, row->program.get(), row->content);
    made.slots[i].job = &made;
    made.slots[i].row = std::move(row);
  }
  std::vector<BatchRow>().swap(made.job.rows);
  if (!made.is_task()) made.job.tokens = 0;
  return made;
}

// Returns how many rows need no computation. Throws when out of memory; the job is then not entered.
std::size_t BatchScheduler::State::enter(QueuedJob& job) {
  try {
    const std::size_t spared = enter_rows(job);
    if (job.is_task() || job.next_row() != nullptr) queue.add(job);
    task_tokens += job.job.tokens;
    next_deadline = std::min(next_deadline, job.job.deadline);
    return spared;
  } catch (...) {
    job.job.tokens = 0;
    detach(job);
    throw;
  }
}

// Answers rows from the cache, joins rows to equal unfinished ones, queues the others.
std::size_t BatchScheduler::State::enter_rows(QueuedJob& job) {
  std::size_t spared = 0, i = 0;
  try {
    for (; i < job.slots.size(); ++i) {
      RowSlot& slot = job.slots[i];
      SharedRow& row = *slot.row;
      if (const auto* values = cache.find(row.hash, row.program.get(), row.content, job.submitted)) {
        place_values(job, i, *values);
        slot.row.reset();
        --job.remaining;
        ++spared;
        continue;
      }
      const auto [place, is_new] = under_way.insert(&row);
      if (is_new) {
        row_tokens += row.tokens();
        queued_tokens += row.tokens();
      } else {
        if ((*place)->state != RowState::queued && !job.begun) job.begun = job.submitted;
        slot.row = (*place)->shared_from_this();
        ++spared;
      }
      slot.row->link(slot);
    }
  } catch (...) {
    for (; i < job.slots.size(); ++i) job.slots[i].row.reset();
    throw;
  }
  return spared;
}

// Removes the row from those that equal rows may join.
void BatchScheduler::State::close(SharedRow& row) {
  if (row.state == RowState::over) return;
  if (row.state == RowState::queued) queued_tokens -= row.tokens();
  row_tokens -= row.tokens();
  row.state = RowState::over;
  under_way.erase(&row);
}

void BatchScheduler::State::leave(RowSlot& slot) {
  const std::shared_ptr<SharedRow> row = std::move(slot.row);
  row->unlink(slot);
  if (row->waiting != nullptr || row->state == RowState::over) return;
  if (row->state == RowState::running) wanted.fetch_sub(1, std::memory_order_relaxed);
  close(*row);
}

void BatchScheduler::State::detach(QueuedJob& job) {
  for (RowSlot& slot : job.slots) {
    if (slot.row != nullptr) leave(slot);
  }
  queue.remove(job);
  task_tokens -= std::exchange(job.job.tokens, 0);
  if (running_task == &job) {
    wanted.store(0, std::memory_order_relaxed);
    running_task = nullptr;
  }
}

void BatchScheduler::State::finish(QueuedJob& job, std::exception_ptr error) {
  detach(job);
  if (error != nullptr) {
    job.result.error = std::move(error);
    job.result.values.clear();
  }
  const Clock::time_point now = Clock::now();
  job.result.queue = job.begun.value_or(now) - job.submitted;
  job.result.compute = job.begun ? now - *job.begun : Clock::duration{};
  job.finished = true;
  finished.splice(finished.end(), jobs, by_id.find(job.id)->second);
}

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
    finish(job, as_pointer(Error(ErrorCode::deadline_exceeded,
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
    task(Cancellation::when(is_unwanted));
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
    values = program->run_rows(rows, {.cancellation = Cancellation::when(is_unwanted)});
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

BatchScheduler::BatchScheduler(const BatchSchedulerOptions& options, BatchObserver observer)
    : state_(std::make_shared<State>(options, std::move(observer))) {
  try {
    state_->thread = std::thread([state = state_] { state->serve(); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::resource_exhausted, "cannot start a thread for a model; allow this process more of them")
        .with_cause(error);
  }
}

BatchScheduler::~BatchScheduler() { stop(); }

void BatchScheduler::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->sleeping = false;
    while (!state_->jobs.empty()) state_->finish(state_->jobs.front(), as_pointer(state_->unloading));
  }
  state_->news.notify_one();
  if (!state_->thread.joinable()) return;
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

std::uint64_t BatchScheduler::submit(BatchJob job) {
  State::Jobs made;
  QueuedJob& queued = state_->prepare(std::move(job), made);
  std::size_t spared = 0;
  bool wake = false;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    id = queued.id = ++state_->last_id;
    if (state_->stopping) {
      queued.result.error = as_pointer(state_->unloading);
    } else if (queued.is_task() || !queued.slots.empty()) {
      const auto entry = state_->by_id.emplace(id, made.begin()).first;
      try {
        spared = state_->enter(queued);
      } catch (...) {
        state_->by_id.erase(entry);
        throw;
      }
      if (queued.is_task() || queued.remaining > 0) {
        state_->jobs.splice(state_->jobs.end(), made);
        wake = std::exchange(state_->sleeping, false);
      } else {
        state_->by_id.erase(entry);
      }
    }
  }
  if (wake) state_->news.notify_one();
  for (std::size_t i = 0; state_->observer.cache_hit && i < spared; ++i) state_->observer.cache_hit();
  // Still in `made`: there was nothing to compute.
  if (!made.empty() && queued.job.done) queued.job.done(std::move(queued.result));
  return id;
}

void BatchScheduler::cancel(std::uint64_t job) {
  State::Jobs dropped;  // destroyed after the lock is released: `done` may hold anything
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_id.find(job);
    if (found == state_->by_id.end()) return;
    const State::Jobs::iterator place = found->second;
    state_->by_id.erase(found);
    if (!place->finished) state_->detach(*place);
    dropped.splice(dropped.begin(), place->finished ? state_->finished : state_->jobs, place);
  }
}

BatchScheduler::Depth BatchScheduler::depth() const {
  const std::lock_guard lock(state_->mutex);
  return {.jobs = state_->jobs.size(),
          .rows = state_->under_way.size(),
          .tokens = state_->row_tokens + state_->task_tokens,
          .running = state_->call_begun ? Clock::now() - *state_->call_begun : Clock::duration{}};
}

}  // namespace alate::runtime
