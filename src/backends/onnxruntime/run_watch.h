// Ends runs of the library that nobody waits for any more.
#pragma once

#include <list>
#include <memory>

#include "alate/cancellation.h"
#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

/// The options of one run, which ends early, between two of its kernels, once it is cancelled: a thread of this process
/// asks some fifty times a second as long as this lives.
class WatchedRun {
 public:
  /// Throws what the library says. `library` must outlive this.
  WatchedRun(const Library& library, Cancellation cancellation);
  /// Once this returns nobody asks any more.
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  const abi::RunOptions* options() const { return options_.get(); }
  /// Ends the run where it is no longer wanted. Called by the watching thread.
  void check() noexcept;

 private:
  const Library& library_;
  Cancellation cancellation_;
  Owned<abi::RunOptions> options_;
  bool is_ended_ = false;
  std::list<WatchedRun*>::iterator place_;  // among the watcher's
};

}  // namespace alate::onnxruntime
