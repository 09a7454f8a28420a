#include "runtime/decoding/step_scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
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
  State(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options,
        std::shared_ptr<StepTurns> with_others)
      : turns(std::move(with_others)), loop(std::move(program), options) {}

  void serve();
  void step(std::vector<std::shared_ptr<LiveSequence>>& added);
  bool forget(std::uint64_t id);

  const std::exception_ptr unloading =
      std::make_exception_ptr(Error(ErrorCode::cancelled, "the model is being unloaded"));

  const std::shared_ptr<StepTurns> turns;  // null: of no others
  mutable base::Mutex mutex;
  std::condition_variable news;
  std::atomic<bool> stopping = false;
  std::uint64_t last_id = 0;
  std::vector<std::shared_ptr<LiveSequence>> submitted;                    // not yet in the loop
  std::unordered_map<std::uint64_t, std::shared_ptr<LiveSequence>> by_id;  // not done
  StepCounts counts;
  std::optional<StepJob::Clock::time_point> step_since;  // of the step under way
  StepLoop loop;                                         // of the thread
  ModelThread thread;
};

StepScheduler::StepScheduler(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options,
                             std::shared_ptr<StepTurns> turns)
    : state_(std::make_shared<State>(std::move(program), options, std::move(turns))) {
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
  // Those of the step under way may have come since.
  counts.waiting = state_->by_id.size() - std::min(state_->by_id.size(), counts.running);
  return counts;
}

std::chrono::nanoseconds StepScheduler::running() const {
  const std::lock_guard lock(state_->mutex);
  return state_->step_since ? StepJob::Clock::now() - *state_->step_since : std::chrono::nanoseconds();
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
      step_since.reset();
      if (stopping && submitted.empty() && loop.empty()) return;
      news.wait(lock, [&] { return stopping || !submitted.empty() || !loop.empty(); });
      added.swap(submitted);
      step_since = StepJob::Clock::now();
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
    if (loop.empty()) return;
    const StepTurns::Turn turn = StepTurns::wait(turns.get());
    loop.step({.cancellation = base::Cancellation::when(is_stopping)});
  } catch (...) {
    loop.end_all(stopping ? unloading : current_error());
  }
}

}  // namespace alate::runtime
