// Destroys models on a dedicated thread.
#pragma once

#include <memory>
#include <thread>

namespace alate::runtime {

struct TrackedModel;

/// Receives models once their last reference is gone. Destroying one may wait for a run of it and frees much memory,
/// which neither the thread that happened to hold the last reference nor the loading threads should do. Thread-safe.
class DeferredDeleter {
 public:
  /// Throws resource_exhausted if no thread can be created.
  DeferredDeleter();
  /// As `close`.
  ~DeferredDeleter();
  DeferredDeleter(const DeferredDeleter&) = delete;
  DeferredDeleter& operator=(const DeferredDeleter&) = delete;

  /// Takes ownership of the model. Does not allocate.
  void release(TrackedModel* model) noexcept;
  /// Destroys the models it has taken and ends its thread; from now on models are destroyed where they are released.
  /// Idempotent; not to be called from two threads at once.
  void close() noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread
  std::thread thread_;
};

}  // namespace alate::runtime
