// Turns of models that compute on the same cores.
#pragma once

#include <condition_variable>
#include <cstdint>

#include "base/threads/mutex.h"

namespace alate::runtime {

/// One step at a time, of the models in the order in which they ask: each gets a step before another gets its second.
/// Two at once would be at each other's caches, and neither would be done earlier. Thread-safe.
class StepTurns {
 public:
  /// Until it goes.
  class Turn {
   public:
    explicit Turn(StepTurns* turns) : turns_(turns) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    StepTurns* turns_;
  };

  /// Waits for the steps of all that have asked before.
  static Turn wait(StepTurns* turns);

 private:
  base::Mutex mutex_;
  std::condition_variable next_;
  std::uint64_t asked_ = 0, served_ = 0;
};

}  // namespace alate::runtime
