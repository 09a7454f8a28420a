#include "runtime/decoding/step_scheduler.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/error_copy.h"
#include "base/threads/mutex.h"
#include "runtime/batching/current_error.h"
#include "runtime/batching/model_thread.h"

namespace alate::runtime {

struct StepScheduler::State {
  State(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options)
      : loop(std::move(program), options) {}

  void serve();
  void step(std::vector<std::shared_ptr<LiveSequence>>& added);
  bool forget(std::uint64_t id);

  const std::exception_ptr unloading =
      std::make_exception_ptr(Error(ErrorCode::cancelled, "the model is being unloaded"));

  mutable base::Mutex mutex;
  std::condition_variable news;
  std::atomic<bool> stopping = false;
  std::uint64_t last_id = 0;
  std::vector<std::shared_ptr<LiveSequence>> submitted;                    // not yet in the loop
  std::unordered_map<std::uint64_t, std::shared_ptr<LiveSequence>> by_id;  // not done
  StepCounts counts;
  StepLoop loop;  // of the thread
  ModelThread thread;
};

StepScheduler::StepScheduler(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options)
    : state_(std::make_shared<State>(std::move(program), options)) {
  state_->thread.start([state = state_] { state->serve(); });
}

StepScheduler::~StepScheduler() { stop(); }

void StepScheduler::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->news.notify_one();
  state_->thread.finish();
}

std::uint64_t StepScheduler::submit(StepJob job) {
  auto sequence = std::make_shared<LiveSequence>(std::move(job));
  std::uint64_t id = 0;
  bool is_taken = false;
  {
    const std::lock_guard lock(state_->mutex);
    id = ++state_->last_id;
    is_taken = !state_->stopping;
    if (is_taken) {
      State* const state = state_.get();
      sequence->job.done = [state, id, done = std::move(sequence->job.done)](const StepResult& result) {
        if (state->forget(id) && done) done(result);
      };
      state_->submitted.push_back(sequence);
      try {
        state_->by_id.emplace(id, sequence);
      } catch (...) {
        state_->submitted.pop_back();
        throw;
      }
    }
  }
  if (is_taken) {
    state_->news.notify_one();
  } else if (sequence->job.done) {
    sequence->result.error = base::copy_of(state_->unloading);
    sequence->job.done(sequence->result);
  }
  return id;
}

void StepScheduler::cancel(std::uint64_t job) {
  std::shared_ptr<LiveSequence> dropped;  // destroyed after the lock is released: its functions may hold anything
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->by_id.find(job);
  if (found == state_->by_id.end()) return;
  dropped = std::move(found->second);
  dropped->unwanted = true;
  state_->by_id.erase(found);
}

StepCounts StepScheduler::counts() const {
  const std::lock_guard lock(state_->mutex);
  StepCounts counts = state_->counts;
  counts.waiting += state_->submitted.size();
  return counts;
}

// False if the job was cancelled.
bool StepScheduler::State::forget(std::uint64_t id) {
  const std::lock_guard lock(mutex);
  return by_id.erase(id) > 0;
}

void StepScheduler::State::serve() {
  std::vector<std::shared_ptr<LiveSequence>> added;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      counts = loop.counts();
      if (stopping && submitted.empty() && loop.empty()) return;
      news.wait(lock, [&] { return stopping || !submitted.empty() || !loop.empty(); });
      added.swap(submitted);
    }
    step(added);
  }
}

void StepScheduler::State::step(std::vector<std::shared_ptr<LiveSequence>>& added) {
  for (const std::shared_ptr<LiveSequence>& sequence : added) {
    try {
      loop.add(sequence);
    } catch (...) {
      sequence->result.error = current_error();
      sequence->job.done(sequence->result);
    }
  }
  added.clear();
  const auto is_stopping = [this] { return stopping.load(); };
  try {
    if (!loop.empty()) loop.step({.cancellation = base::Cancellation::when(is_stopping)});
  } catch (...) {
    loop.end_all(stopping ? unloading : current_error());
  }
}

}  // namespace alate::runtime
