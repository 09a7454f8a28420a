// A run that has no waiting caller any more, but that the device has not finished.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

#include "backends/xla/execution.h"
#include "base/threads/mutex.h"

namespace alate::xla {

/// Keeps such a run with its buffers until the device is done with it, so that its caller need not wait. Has a thread
/// while it keeps a run. Thread-safe.
class AbandonedRun {
 public:
  /// Most runs kept at one time: they take the device's memory and time from runs that callers wait for.
  static constexpr std::size_t kMost = 1;

  AbandonedRun() = default;
  /// Waits until the device is done.
  ~AbandonedRun();
  AbandonedRun(const AbandonedRun&) = delete;
  AbandonedRun& operator=(const AbandonedRun&) = delete;

  /// Takes over the run. Returns false, and the run stays the caller's, while it already keeps one, or when no thread
  /// can be started.
  bool take(std::unique_ptr<Execution>& run);

 private:
  void serve();

  base::Mutex mutex_;
  std::unique_ptr<Execution> run_;  // for the thread to take
  bool is_busy_ = false;
  std::thread thread_;
};

}  // namespace alate::xla
