// Timestamps for JSON.
#pragma once

#include <chrono>
#include <string>

namespace alate::server {

/// RFC 3339 in UTC, to the millisecond: "2026-11-21T15:04:05.678Z".
std::string rfc3339(std::chrono::system_clock::time_point moment);

}  // namespace alate::server
