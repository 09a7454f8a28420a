// The process's log: events with named values, one line each, to standard error or to the sink of alate/log.h. It
// never contains user text.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "alate/log.h"

namespace alate::base {

using alate::LogField;
using alate::LogLevel;
enum class LogStyle { terminal, json, logfmt, noop };

std::string_view to_string(LogStyle style);
/// The inverses of the `to_string`; nothing for an unknown name.
std::optional<LogLevel> parse_log_level(std::string_view name);
std::optional<LogStyle> parse_log_style(std::string_view name);

/// Events below `level` are dropped; `LogStyle::noop` drops all. Default: warn, terminal. Thread-safe.
void configure_log(LogLevel level, LogStyle style);

/// The style that was configured last.
LogStyle log_style();

/// Whether an event of this level would be written; check it before computing costly fields.
bool logs(LogLevel level);

/// Writes one line. `event` is a short constant sentence ("backend refused"); variable parts go into the fields.
/// Thread-safe; lines do not interleave. Throws only when out of memory.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
/// The same event with a `sentence` that says it to a person: style terminal writes it in place of event and fields.
/// Warnings that commands give have one.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields, std::string_view sentence);

}  // namespace alate::base
