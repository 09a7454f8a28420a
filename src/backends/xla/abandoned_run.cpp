#include "backends/xla/abandoned_run.h"

#include <mutex>
#include <system_error>
#include <utility>

namespace alate::xla {

AbandonedRun::~AbandonedRun() {
  if (thread_.joinable()) thread_.join();
}

bool AbandonedRun::take(std::unique_ptr<Execution>& run) {
  const std::lock_guard lock(mutex_);
  if (is_busy_) return false;
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  run_ = std::move(run);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    run = std::move(run_);
    return false;
  }
  is_busy_ = true;
  return true;
}

void AbandonedRun::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::unique_ptr<Execution> run = std::move(run_);
  lock.unlock();
  run.reset();  // waits
  lock.lock();
  is_busy_ = false;
}

}  // namespace alate::xla
