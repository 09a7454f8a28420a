// Whether bytes keep coming.
#pragma once

#include <chrono>
#include <cstddef>

#include "server/exchange.h"

namespace alate::server {

/// Holds a transfer to a least rate in each window of time, so that nobody sends much at first to live on it later.
class RateWindow {
 public:
  void begin(Clock::time_point now) {
    begun_ = now;
    bytes_before_ = 0;
  }

  /// To be asked more often than once a window. `bytes` are those of the whole transfer until now.
  bool too_slow(Clock::time_point now, std::size_t bytes, std::chrono::nanoseconds window, std::size_t bytes_a_second) {
    const auto elapsed = now - begun_;
    if (elapsed <= window) return false;
    const double wanted = std::chrono::duration<double>(elapsed).count() * static_cast<double>(bytes_a_second);
    if (static_cast<double>(bytes - bytes_before_) < wanted) return true;
    begun_ = now;
    bytes_before_ = bytes;
    return false;
  }

 private:
  Clock::time_point begun_;
  std::size_t bytes_before_ = 0;
};

}  // namespace alate::server
