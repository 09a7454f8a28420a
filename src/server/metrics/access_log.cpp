#include "server/metrics/access_log.h"

#include <cstdio>
#include <string>

#include "base/log.h"

namespace alate::server {
namespace {

constexpr std::size_t kShownPath = 64, kShownMethod = 16;

// Sanitizes client-supplied text, so that it cannot break a line, control a terminal or fill the disk.
std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) out += c > 0x20 && c < 0x7F ? c : '?';
  if (text.size() > most) out += "...";
  return out;
}

std::string milliseconds(std::chrono::nanoseconds duration) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%.3f", static_cast<double>(duration.count()) * 1e-6);
  return std::string(text, static_cast<std::size_t>(length));
}

}  // namespace

void log_access(const Served& served, std::string_view route) {
  if (!base::logs(base::LogLevel::info)) return;
  const Request& request = *served.request;
  base::log(base::LogLevel::info, "request",
            {{"id", printable(served.id, kShownPath)},
             {"method", printable(request.method_name, kShownMethod)},
             {"route", route == "unknown" ? printable(request.path, kShownPath) : std::string(route)},
             {"status", served.status == 0 ? "gone" : std::to_string(served.status)},
             {"bytes_in", std::to_string(served.request_bytes)},
             {"bytes_out", std::to_string(served.response_bytes)},
             {"duration_ms", milliseconds(served.duration)},
             {"queue_ms", milliseconds(served.stages.queue)},
             {"tokenize_ms", milliseconds(served.stages.tokenize)},
             {"compute_ms", milliseconds(served.stages.compute)},
             {"peer", printable(request.peer, kShownPath)}});
}

}  // namespace alate::server
