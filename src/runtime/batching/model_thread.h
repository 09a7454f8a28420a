// The thread on which a scheduler serves a model.
#pragma once

#include <functional>
#include <thread>

namespace alate::runtime {

/// Not thread-safe.
class ModelThread {
 public:
  /// Throws resource_exhausted where the process may have no more threads.
  void start(std::function<void()> serve);
  /// Waits until `serve` has returned; on the thread itself it returns at once, and the thread goes on by itself.
  /// Idempotent.
  void finish() noexcept;

 private:
  std::thread thread_;
};

}  // namespace alate::runtime
