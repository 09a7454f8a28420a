#include "runtime/decoding/step_turns.h"

#include <mutex>

namespace alate::runtime {

StepTurns::Turn StepTurns::wait(StepTurns* turns) {
  if (turns != nullptr) {
    std::unique_lock<std::mutex> lock(turns->mutex_);
    const std::uint64_t number = turns->asked_++;
    turns->next_.wait(lock, [&] { return turns->served_ == number; });
  }
  return Turn(turns);
}

StepTurns::Turn::~Turn() {
  if (turns_ == nullptr) return;
  {
    const std::lock_guard lock(turns_->mutex_);
    ++turns_->served_;
  }
  turns_->next_.notify_all();
}

}  // namespace alate::runtime
