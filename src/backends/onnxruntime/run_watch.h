// Ends runs of the library that nobody waits for any more.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

/// The options of one run, which ends early, between two of its kernels, once `cancelled` says so: a thread of this
/// process asks it some fifty times a second as long as this lives. `cancelled` must be callable from any thread.
class WatchedRun {
 public:
  /// Throws what the library says. `cancelled` and `library` must outlive this.
  WatchedRun(const Library& library, const std::function<bool()>& cancelled);
  /// Once this returns nobody asks `cancelled`.
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  const abi::RunOptions* options() const { return options_.get(); }
  /// Ends the run where it is no longer wanted. Called by the watching thread.
  void check() noexcept;

 private:
  const Library& library_;
  const std::function<bool()>& cancelled_;
  Owned<abi::RunOptions> options_;
  bool is_ended_ = false;
  std::list<WatchedRun*>::iterator place_;  // among the watcher's
};

}  // namespace alate::onnxruntime
