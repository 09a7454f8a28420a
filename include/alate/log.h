// The library's log: where its events go.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace alate {

enum class LogLevel { trace, debug, info, warn, error, off };
std::string_view to_string(LogLevel level);  // "warn"

/// A value of an event. Keys are words of ASCII letters, digits, '_' and '.'.
struct LogField {
  std::string_view key;
  std::string value;
};

/// The views are valid during the call that passes them. Events never contain texts of users.
struct LogEvent {
  LogLevel level;
  std::string_view event;  // a short constant sentence: "backend passed over"
  std::span<const LogField> fields;
};

/// Called for each event, on the thread that logs it; several threads may call it at once. What it throws is dropped,
/// and so are events that it causes itself.
using LogSink = std::function<void(const LogEvent&)>;

/// From now on events of at least `level` go to `sink` instead of standard error; an empty sink means standard error
/// again. A call that is under way on another thread may still use the sink from before. Thread-safe.
void set_log_sink(LogSink sink, LogLevel level = LogLevel::warn);

}  // namespace alate
