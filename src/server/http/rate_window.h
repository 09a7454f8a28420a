// Minimum transfer rate of a connection.
#pragma once

#include <chrono>
#include <cstddef>

#include "server/exchange/exchange.h"

namespace alate::server {

/// Enforces a minimum rate in each time window, so that no client can send a burst first and live off it later.
class RateWindow {
 public:
  /// `bytes` of the transfer have been moved already.
  void begin(Clock::time_point now, std::size_t bytes = 0) {
    begun_ = now;
    bytes_before_ = bytes;
  }

  /// Must be called more often than once per window. `bytes` counts the whole transfer so far.
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
