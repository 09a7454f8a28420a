// The process's thread pool and its parallel loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace alate::base {

/// A non-owning reference to a callable `void(std::size_t index, std::size_t worker)`.
class IndexedTask {
 public:
  template <typename Callable>
  IndexedTask(const Callable& callable)  // NOLINT(google-explicit-constructor): call sites pass lambdas
      : object_(&callable), call_([](const void* object, std::size_t index, std::size_t worker) {
          (*static_cast<const Callable*>(object))(index, worker);
        }) {}
  void operator()(std::size_t index, std::size_t worker) const { call_(object_, index, worker); }

 private:
  const void* object_;
  void (*call_)(const void*, std::size_t, std::size_t);
};

/// Fork-join over a fixed set of threads. Thread-safe: loops of several callers share the workers fairly.
/// Workers spin for some microseconds after a loop, then sleep.
class ThreadPool {
 public:
  /// `threads` counts the caller: a pool of 1 starts no threads. 0 means one per usable core.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const;

  /// Runs task(i, worker) once for every i in [0, count), on the caller and at most `max_workers - 1` others (0: no cap
  /// but the pool's), and returns when all are done. `worker` is below min(max_workers, size()) and is not used by two
  /// calls at the same time within one loop: it may index scratch memory. Indices are taken one at a time in ascending
  /// order. When a task throws, no further index is started and the first error is rethrown here. A nested loop inside
  /// a task runs only on the calling worker.
  void parallel_for(std::size_t count, std::size_t max_workers, IndexedTask task);

  /// The process-wide pool, created at first use with one thread per usable core (or as set by `configure_shared`).
  static ThreadPool& shared();
  /// Sets the size of the shared pool. Throws internal when it is already running with another size.
  static void configure_shared(std::size_t threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate::base
