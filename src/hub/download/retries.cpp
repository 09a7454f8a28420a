#include "hub/download/retries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/split_text.h"

namespace alate::hub {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};  // at whether a stop was requested
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "Sun, 06 Nov 1994 08:49:37 GMT": RFC 9110, section 5.6.7.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  const std::vector<std::string_view> parts = base::split_text(text, ' ');
  if (parts.size() != 6 || parts[5] != "GMT") return std::nullopt;
  const auto month = std::ranges::find(kMonths, parts[2]);
  const std::vector<std::string_view> clock = base::split_text(parts[4], ':');
  if (month == kMonths.end() || clock.size() != 3) return std::nullopt;
  const auto day = number(parts[1]), year = number(parts[3]), hours = number(clock[0]), minutes = number(clock[1]),
             seconds = number(clock[2]);
  if (!day || !year || !hours || !minutes || !seconds || *year > 9999 || *hours > 23 || *minutes > 59 || *seconds > 60)
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                                         std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
         std::chrono::seconds(*seconds);
}

}  // namespace

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::chrono::system_clock::time_point now) {
  if (const auto seconds = number(text)) return std::chrono::seconds(*seconds);
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  // In whole seconds: finer units cannot count to every year.
  return std::max(std::chrono::seconds(0), *date - std::chrono::floor<std::chrono::seconds>(now));
}

void Retries::note_progress() {
  failures_ = 0;
  was_reached_ = true;
}

void Retries::wait_after(const BusyServer& error) {
  was_reached_ = true;
  wait(error, policy_.most_attempts, error.retry_after());
}

void Retries::wait_after(const Error& error) {
  if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::deadline_exceeded) throw error;
  wait(error, was_reached_ ? policy_.most_attempts : policy_.most_unreached, std::nullopt);
}

void Retries::wait(const Error& error, int most, std::optional<std::chrono::seconds> asked) {
  ++failures_;
  ++all_failures_;
  if (asked && *asked > policy_.longest_retry_after)
    throw make_error(error.code(), error.message(), "; it asks to come again in ", asked->count(), " s");
  if (failures_ >= most || all_failures_ >= policy_.most_in_all) throw Error(error.code(), error.message());
  std::chrono::milliseconds delay = policy_.first_delay;
  for (int i = 1; i < failures_ && delay < policy_.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, policy_.longest_delay);
  if (asked) delay = std::max<std::chrono::milliseconds>(*asked, policy_.first_delay);
  base::log(base::LogLevel::info, "trying again", {{"reason", error.message()}, {"ms", std::to_string(delay.count())}});
  const auto end = std::chrono::steady_clock::now() + delay;
  while (!stop_.stop_requested()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::steady_clock::duration::zero()) break;
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kBetweenLooks));
  }
  if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
}

}  // namespace alate::hub
