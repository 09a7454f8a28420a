#include "server/models/live_answers.h"

#include <mutex>
#include <utility>

namespace alate::server {

void LiveAnswers::add(std::weak_ptr<LiveAnswer> answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(answer));
}

void LiveAnswers::tick(Clock::time_point now) {
  std::vector<std::shared_ptr<LiveAnswer>> alive;  // let go of without the lock
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(answers_, [&](const std::weak_ptr<LiveAnswer>& each) {
      alive.push_back(each.lock());
      return alive.back() == nullptr;
    });
  }
  for (const std::shared_ptr<LiveAnswer>& each : alive) {
    if (each != nullptr) each->tick(now);
  }
}

}  // namespace alate::server
