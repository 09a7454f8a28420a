#include "runtime/batching/batch_scheduler.h"

#include <mutex>
#include <random>
#include <utility>

#include "runtime/batching/batch_scheduler_state.h"

namespace alate::runtime {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

BatchScheduler::State::State(const BatchSchedulerOptions& chosen, BatchObserver watcher)
    : options(chosen),
      observer(std::move(watcher)),
      seed(random_number()),
      queue(chosen),
      cache(chosen.cache_size, chosen.cache_ttl) {}

BatchScheduler::BatchScheduler(const BatchSchedulerOptions& options, BatchObserver observer)
    : state_(std::make_shared<State>(options, std::move(observer))) {
  state_->thread.start([state = state_] { state->serve(); });
}

BatchScheduler::~BatchScheduler() { stop(); }

void BatchScheduler::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->sleeping = false;
    while (!state_->jobs.empty()) state_->finish(state_->jobs.front(), std::make_exception_ptr(state_->unloading));
  }
  state_->news.notify_one();
  state_->thread.finish();
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
      queued.result.error = std::make_exception_ptr(state_->unloading);
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
