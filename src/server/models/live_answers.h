// Answers that are being written, which are asked about every second whether there is something to say.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/threads/mutex.h"
#include "server/exchange/exchange.h"

namespace alate::server {

/// Called on a thread of the server's own, and must be short.
class LiveAnswer {
 public:
  LiveAnswer() = default;
  virtual ~LiveAnswer() = default;
  LiveAnswer(const LiveAnswer&) = delete;
  LiveAnswer& operator=(const LiveAnswer&) = delete;

  virtual void tick(Clock::time_point now) = 0;
};

/// Thread-safe.
class LiveAnswers {
 public:
  /// As long as it lives.
  void add(std::weak_ptr<LiveAnswer> answer);
  /// Asks all of them; the server calls it about every second.
  void tick(Clock::time_point now);

 private:
  base::Mutex mutex_;
  std::vector<std::weak_ptr<LiveAnswer>> answers_;
};

}  // namespace alate::server
