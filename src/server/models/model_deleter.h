// Destroys models on a thread of its own.
#pragma once

#include <memory>
#include <thread>

namespace alate::server {

struct HostedModel;

/// Where models go when nobody holds them any more. To destroy one waits for the run that its scheduler has under way,
/// and gives back much memory: neither the thread that happened to hold it last nor those that load models do that.
/// Thread-safe.
class DeferredDeleter {
 public:
  /// Throws resource_exhausted where no thread can be had.
  DeferredDeleter();
  /// As `close`.
  ~DeferredDeleter();
  DeferredDeleter(const DeferredDeleter&) = delete;
  DeferredDeleter& operator=(const DeferredDeleter&) = delete;

  /// Takes the model. Allocates nothing.
  void release(HostedModel* model) noexcept;
  /// Destroys what it has taken and ends its thread; from now on models are destroyed where they are released.
  /// Idempotent; not from two threads at once.
  void close() noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // the thread's too
  std::thread thread_;
};

}  // namespace alate::server
