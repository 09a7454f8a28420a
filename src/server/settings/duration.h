// Spans of time as people write them in settings and requests.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace alate::server {

/// "5m", "1h30m", "1.5s", "250ms", "0", "-1": numbers with the units ns, us, ms, s, m and h, one after the other,
/// behind at most one sign; a number alone is seconds. Nothing for any other text and for what does not fit (292
/// years).
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace alate::server
