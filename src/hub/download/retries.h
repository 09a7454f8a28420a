// Repeating of what failed for a passing reason.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::hub {

/// A server's answer that says "later": 408, 429, 5xx.
class BusyServer : public Error {
 public:
  BusyServer(std::string message, std::optional<std::chrono::seconds> retry_after)
      : Error(ErrorCode::unavailable, std::move(message)), retry_after_(retry_after) {}
  /// What its Retry-After says.
  std::optional<std::chrono::seconds> retry_after() const { return retry_after_; }

 private:
  std::optional<std::chrono::seconds> retry_after_;
};

struct RetryPolicy {
  std::chrono::milliseconds first_delay{1000};
  std::chrono::milliseconds longest_delay{30000};
  std::chrono::seconds longest_retry_after{120};
  int most_unreached = 3;  // attempts, while the server has never been reached
  int most_attempts = 6;   // in a row without any progress
  int most_in_all = 50;
};

/// Decides for one task whether it is tried again, and waits before that. One thread at a time.
class Retries {
 public:
  Retries(const RetryPolicy& policy, std::stop_token stop) : policy_(policy), stop_(std::move(stop)) {}

  /// The server has answered.
  void note_reached() { was_reached_ = true; }
  /// Something was achieved: later failures may be more.
  void note_progress();
  /// Returns after a delay, which doubles, or which the server asked for. Throws `error` if it is of a kind that does
  /// not pass (unavailable and deadline_exceeded do), if there were too many attempts, or if the server asks for too
  /// long a delay; cancelled when a stop is requested.
  void wait_after(const Error& error);
  void wait_after(const BusyServer& error);

 private:
  void wait(const Error& error, int most, std::optional<std::chrono::seconds> asked);

  RetryPolicy policy_;
  std::stop_token stop_;
  int failures_ = 0, all_failures_ = 0;
  bool was_reached_ = false;
};

/// Calls `task` until it returns. Throws as Retries::wait_after.
template <typename Task>
auto with_retries(Retries& retries, const Task& task) {
  for (;;) {
    try {
      return task();
    } catch (const BusyServer& error) {
      retries.wait_after(error);
    } catch (const Error& error) {
      retries.wait_after(error);
    }
  }
}
template <typename Task>
auto with_retries(const RetryPolicy& policy, const std::stop_token& stop, const Task& task) {
  Retries retries(policy, stop);
  return with_retries(retries, task);
}

/// The seconds of a Retry-After: a number, or an HTTP date; nothing for other text.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::chrono::system_clock::time_point now);

}  // namespace alate::hub
