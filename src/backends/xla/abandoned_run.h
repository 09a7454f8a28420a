// A run that nobody waits for any more, and that the device has not ended yet.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

#include "backends/xla/execution.h"
#include "base/threads/mutex.h"

namespace alate::xla {

/// Keeps such a run with its buffers until the device is done with it, so that its caller need not wait. It has a
/// thread while it keeps one. Thread-safe.
class AbandonedRun {
 public:
  /// Runs that it keeps at one time: they take the device's memory and time from runs that somebody waits for.
  static constexpr std::size_t kMost = 1;

  AbandonedRun() = default;
  /// Waits until the device is done.
  ~AbandonedRun();
  AbandonedRun(const AbandonedRun&) = delete;
  AbandonedRun& operator=(const AbandonedRun&) = delete;

  /// Takes the run over. False, and the run stays the caller's, while there is another one, and where no thread can be
  /// had.
  bool take(std::unique_ptr<Execution>& run);

 private:
  void serve();

  base::Mutex mutex_;
  std::unique_ptr<Execution> run_;  // for the thread
  bool is_busy_ = false;
  std::thread thread_;
};

}  // namespace alate::xla
