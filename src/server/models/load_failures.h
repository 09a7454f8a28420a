// Loads that failed lately, so that requests for a broken model do not load it again and again.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "alate/error.h"
#include "base/threads/mutex.h"

namespace alate::server {

/// Thread-safe.
class LoadFailures {
 public:
  using Clock = std::chrono::steady_clock;
  /// The first failure is remembered for so long, each further one twice as long, up to the greatest time.
  static constexpr std::chrono::seconds kFirst{1}, kLongest{60};

  /// `key` is the model and the place that was asked for, `digest` of its files' names, sizes and times.
  void add(const std::string& key, const std::string& digest, const Error& error, Clock::time_point now);
  void remove(const std::string& key);
  /// Throws the last failure again, saying when it is tried next, unless that is now or the files have changed.
  void check(const std::string& key, const std::string& digest, Clock::time_point now) const;

 private:
  struct Failure {
    std::string digest;
    Error error;
    Clock::time_point until;
    std::chrono::seconds pause;
  };

  mutable base::Mutex mutex_;
  std::map<std::string, Failure> failures_;
};

}  // namespace alate::server
