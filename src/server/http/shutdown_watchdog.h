// Terminates the process if shutdown hangs.
#pragma once

#include <chrono>
#include <thread>

#include "net/descriptor.h"

namespace alate::server {

/// Counts SIGTERM and SIGINT from construction on, in addition to their other handlers. `limit` after the first signal,
/// one second after the second, or immediately at the third, the process exits with code 1 and a log line, whatever
/// hangs. Runs on its own thread, which depends on no other. Destroy it once everything that could hang has ended. Only
/// one at a time.
class ShutdownWatchdog {
 public:
  /// REQUIRES: the other handlers of these signals are already installed, because each signal is passed on to them.
  /// Throws resource_exhausted if the process has no descriptor or thread left.
  explicit ShutdownWatchdog(std::chrono::nanoseconds limit);
  ~ShutdownWatchdog();
  ShutdownWatchdog(const ShutdownWatchdog&) = delete;
  ShutdownWatchdog& operator=(const ShutdownWatchdog&) = delete;

 private:
  void watch() const;

  const std::chrono::nanoseconds limit_;
  net::Descriptor told_, tell_;  // read and write end of a pipe
  std::thread thread_;
};

}  // namespace alate::server
