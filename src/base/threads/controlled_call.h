// A call of the library's user, under its RunControl.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>

#include "alate/error.h"
#include "alate/run_control.h"
#include "base/threads/cancellation.h"

namespace alate::base {

/// What the caller's progress callback threw, on its way out of the library. No error of the library, so that nothing
/// on the way takes it for a failure of its own.
struct ThrownByCaller {
  std::exception_ptr error;
};

/// One for each call, on its thread's stack; `control` must outlive it.
class ControlledCall {
 public:
  explicit ControlledCall(const RunControl& control)
      : control_(control), question_{&control}, may_end_(control.stop.stop_possible() || control.deadline) {}
  ControlledCall(const ControlledCall&) = delete;
  ControlledCall& operator=(const ControlledCall&) = delete;

  /// Requested once the caller wants no result any more; valid as long as this call.
  Cancellation cancellation() const { return may_end_ ? Cancellation::when(question_) : Cancellation::never(); }
  /// What `cancellation` asks, for waits that end by themselves.
  const std::stop_token& stop() const { return control_.stop; }
  const std::optional<std::chrono::steady_clock::time_point>& deadline() const { return control_.deadline; }
  bool is_watched() const { return static_cast<bool>(control_.progress); }
  /// Tells the caller, on the calling thread only. Throws ThrownByCaller.
  void report(const Progress& progress) const;
  /// Reports that none of `total` have been computed; the result, which is told how many more have been, reports that.
  /// Empty if nobody wants to know.
  std::function<void(std::size_t)> computed_of(std::size_t total) const;
  /// Whether the call ends because of its deadline.
  bool is_late() const;

 private:
  struct Question {
    const RunControl* control;
    bool operator()() const;
  };

  const RunControl& control_;
  const Question question_;
  const bool may_end_;
};

/// The result of `call(ControlledCall)`. Throws deadline_exceeded where that is why it was cancelled, and what the
/// progress callback threw; begins nothing if it is to end already.
template <typename Call>
auto run_controlled(const RunControl& control, const Call& call) {
  const ControlledCall controlled(control);
  try {
    controlled.cancellation().check();
    return call(controlled);
  } catch (const ThrownByCaller& thrown) {
    std::rethrow_exception(thrown.error);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled && controlled.is_late())
      throw Error(ErrorCode::deadline_exceeded,
                  "the deadline of the call passed before it was done; allow it more time, or give it less to do");
    throw;
  }
}

}  // namespace alate::base
