// The loop of steps that all callers of a loaded decoder share.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "runtime/decoding/step_loop.h"
#include "runtime/decoding/step_turns.h"

namespace alate::runtime {

/// A StepLoop with a thread of its own, which sleeps while there is nothing to do. Thread-safe.
class StepScheduler {
 public:
  /// `turns` are those of all models on the same cores; null: there is no other.
  StepScheduler(std::shared_ptr<const StepProgram> program, const StepLoopOptions& options,
                std::shared_ptr<StepTurns> turns = nullptr);
  /// As `stop`.
  ~StepScheduler();
  StepScheduler(const StepScheduler&) = delete;
  StepScheduler& operator=(const StepScheduler&) = delete;

  /// Ends all sequences, and those that come, with `cancelled`, and waits for the step under way. May be called by a
  /// function of a job, and then waits for nothing. Idempotent; not from two threads at once.
  void stop() noexcept;

  /// Returns an id for `cancel`. Ids are never reused. What StepLoop::add refuses is a job's result.
  std::uint64_t submit(StepJob job);
  /// Drops a job, and frees its pages when the step under way is over: it waits for nothing. A function of the job may
  /// still be running. `done` is not called afterwards. Unknown jobs, and those that are done, are ignored.
  void cancel(std::uint64_t job);

  StepCounts counts() const;
  /// How long the step under way has taken so far; 0 if there is none.
  std::chrono::nanoseconds running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace alate::runtime
