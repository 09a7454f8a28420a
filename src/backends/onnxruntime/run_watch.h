// Ends cancelled runs of the library.
#pragma once

#include <list>
#include <memory>

#include "backends/onnxruntime/library.h"
#include "base/threads/cancellation.h"

namespace alate::onnxruntime {

/// The run options of one run. Once it is cancelled, the run ends early, between two of its kernels: a thread of this
/// process polls some fifty times a second as long as this lives.
class WatchedRun {
 public:
  /// Throws the library's errors. `library` must outlive this.
  WatchedRun(const Library& library, base::Cancellation cancellation);
  /// Once this returns, nothing polls any more.
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  const abi::RunOptions* options() const { return options_.get(); }
  /// Ends the run if it was cancelled. Called by the watching thread.
  void check() noexcept;

 private:
  const Library& library_;
  base::Cancellation cancellation_;
  Owned<abi::RunOptions> options_;
  bool is_ended_ = false;
  std::list<WatchedRun*>::iterator place_;  // among the watcher's
};

}  // namespace alate::onnxruntime
