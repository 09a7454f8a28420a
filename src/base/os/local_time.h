// The calendar of the machine's time zone.
#pragma once

#include <chrono>
#include <ctime>

namespace alate::base {

struct LocalTime {
  std::tm calendar;
  int microseconds;  // of the second
};

/// Thread-safe. Throws internal for a time that the calendar cannot express.
LocalTime local_time(std::chrono::system_clock::time_point time);

}  // namespace alate::base
