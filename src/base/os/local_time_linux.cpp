#include "alate/error.h"
#include "base/os/local_time.h"

namespace alate::base {

LocalTime local_time(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  LocalTime local{};
  if (::localtime_r(&whole, &local.calendar) == nullptr)
    throw Error(ErrorCode::internal, "the clock's time is no date");
  local.microseconds = static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count());
  return local;
}

}  // namespace alate::base
