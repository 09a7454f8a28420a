// Ends the process when it does not end by itself.
#pragma once

#include <chrono>
#include <thread>

#include "server/http/descriptor.h"

namespace alate::server {

/// Counts SIGTERM and SIGINT beside those who handle them, from its making on: `limit` after the first of them, or a
/// second after the second, or at once at the third, the process ends with exit code 1 and a line in the log, whatever
/// hangs. It has a thread of its own, which needs nothing of the others. To be destroyed when all that could hang has
/// ended. One at a time.
class ShutdownWatchdog {
 public:
  /// REQUIRES: the other handlers of these signals are installed, since each signal is passed on to them. Throws
  /// resource_exhausted where the process has no descriptor or thread for it.
  explicit ShutdownWatchdog(std::chrono::nanoseconds limit);
  ~ShutdownWatchdog();
  ShutdownWatchdog(const ShutdownWatchdog&) = delete;
  ShutdownWatchdog& operator=(const ShutdownWatchdog&) = delete;

 private:
  void watch() const;

  const std::chrono::nanoseconds limit_;
  Descriptor told_, tell_;  // the ends of a pipe
  std::thread thread_;
};

}  // namespace alate::server
