#include "server/http/response_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <random>

namespace alate::server {
namespace {

// RFC 9110, section 5.6.2.
bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool belongs_to_transport(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "Connection", "Keep-Alive", "Content-Length", "Transfer-Encoding",     "Trailer",
      "Date",       "Server",     "X-Request-Id",   "X-Content-Type-Options"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view each) { return same_token(each, name); });
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < 0x20 && c != '\t') || byte == 0x7f ? ' ' : c;
  }
  out += "\r\n";
}

void append_padded(std::string& out, int value, std::size_t digits) {
  const std::string text = std::to_string(value);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

// IMF-fixdate of RFC 9110, section 5.6.7; strftime would depend on the process locale.
std::string date_text(std::time_t seconds) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm time{};
  ::gmtime_r(&seconds, &time);
  std::string out(kDays[static_cast<std::size_t>(time.tm_wday)]);
  out += ", ";
  append_padded(out, time.tm_mday, 2);
  out.append(" ").append(kMonths[static_cast<std::size_t>(time.tm_mon)]).append(" ");
  append_padded(out, time.tm_year + 1900, 4);
  out += ' ';
  append_padded(out, time.tm_hour, 2);
  out += ':';
  append_padded(out, time.tm_min, 2);
  out += ':';
  append_padded(out, time.tm_sec, 2);
  return out + " GMT";
}

// The date text of the current second, generated once per second and thread.
const std::string& current_date() {
  thread_local std::time_t second = -1;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    second = now;
    text = date_text(now);
  }
  return text;
}

}  // namespace

bool status_has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string response_head(const Response& response, const ResponseFrame& frame) {
  std::string out;
  out.reserve(512);
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason_phrase(response.status)).append("\r\n");
  append_header(out, "Date", current_date());
  append_header(out, "Server", "alate");
  if (status_has_body(response.status)) {
    if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
    if (const std::optional<std::size_t> bytes = response.body_bytes()) {
      append_header(out, "Content-Length", std::to_string(*bytes));
    } else if (frame.chunked) {
      append_header(out, "Transfer-Encoding", "chunked");
    }
  }
  append_header(out, "X-Request-Id", frame.request_id);
  append_header(out, "X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) {
    if (is_token(name) && !belongs_to_transport(name) && !same_token(name, "Content-Type"))
      append_header(out, name, value);
  }
  if (frame.close) {
    append_header(out, "Connection", "close");
  } else if (frame.announce_keep_alive) {
    append_header(out, "Connection", "keep-alive");
  }
  return out + "\r\n";
}

std::string new_request_id() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed = {device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t bits = generator();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) id += kDigits[bits & 15];
  }
  return id;
}

bool valid_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
}

}  // namespace alate::server
