// Durations as written in settings and requests.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace alate::server {

/// "5m", "1h30m", "1.5s", "250ms", "0", "-1": a sequence of numbers with units ns, us, ms, s, m or h, preceded by at
/// most one sign; a number without a unit is seconds. Nothing for any other text, or if out of range (292 years).
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace alate::server
