// Calls that can be stopped, have a deadline, and say how far they have come.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace alate {

/// How far a call has come. `done` grows from 0 to `total`.
struct Progress {
  enum class Stage {
    loading,    // bytes of the model's weights that have been prepared
    computing,  // texts, or rows of the inputs, that have been computed
  };
  Stage stage = Stage::computing;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// What may end a call early, and who is told how far it has come. As it stands: nothing ends it, and nobody is told.
///
/// A call looks at it between two steps of a batch's computation, while it tokenizes texts, and between two weights
/// that it loads; so an end comes well within a batch. A call that ends early gives no result and changes nothing that
/// other calls see.
struct RunControl {
  /// Once a stop is requested, from any thread, the call throws `cancelled`.
  std::stop_token stop = {};
  /// From then on the call throws `deadline_exceeded`; a time that has passed lets nothing begin.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Called on the calling thread while it holds no lock that another call may wait for: first with 0 done, and last
  /// with all done. What it throws ends the call, and leaves it unchanged.
  std::function<void(const Progress&)> progress = {};
};

}  // namespace alate
