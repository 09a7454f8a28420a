#include "apps/alate/texts/progress.h"

#include <algorithm>
#include <cmath>

#include "apps/alate/measuring/measurements.h"
#include "base/byte_text.h"
#include "base/files/descriptor_io.h"
#include "base/log.h"
#include "base/os/environment.h"

namespace alate::app {
namespace {

constexpr auto kFirstShown = std::chrono::seconds(1);
constexpr auto kBetweenLines = std::chrono::milliseconds(250);
constexpr auto kBetweenEvents = std::chrono::minutes(1);
constexpr std::string_view kClearLine = "\r\x1b[K";

bool can_rewrite_lines() {
  return base::is_terminal(base::kStandardError) && base::environment("TERM").value_or("dumb") != "dumb";
}

// "12 texts", "1.20 GiB".
std::string amount(double count, const std::string& unit, int decimals) {
  if (unit == "bytes") return base::byte_text(static_cast<std::uint64_t>(count));
  return shown(count, decimals) + " " + unit;
}

// Failing to show progress is no reason to stop.
void write_to_terminal(const std::string& text) { (void)base::write_descriptor(base::kStandardError, text); }

}  // namespace

std::string shown_duration(double seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 3600;
  constexpr double kLongest = 3.6e8;
  const auto whole = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, kLongest)));
  if (whole < kMinute) return std::to_string(whole) + " s";
  if (whole < kHour) return std::to_string(whole / kMinute) + " min " + std::to_string(whole % kMinute) + " s";
  return std::to_string(whole / kHour) + " h " + std::to_string(whole % kHour / kMinute) + " min";
}

void declare_progress(Arguments& arguments, bool& is_hidden) {
  arguments.flag("--no-progress", "do not show how far a long job is", is_hidden);
}

Progress::Progress(const CommonOptions& options, bool ends_first, bool is_hidden, std::string_view verb,
                   std::optional<std::size_t> total, std::string_view unit)
    : verb_(verb), unit_(unit), total_(total) {
  if (is_hidden || options.quiet || options.log_style == base::LogStyle::noop) return;
  const bool results_on_screen = is_standard_output(options.out) && base::is_terminal(base::kStandardOutput);
  const bool is_line =
      options.log_style == base::LogStyle::terminal && can_rewrite_lines() && (ends_first || !results_on_screen);
  form_ = is_line ? Form::line : Form::events;
}

Progress::~Progress() { clear(); }

Progress::Hidden::Hidden(Progress& progress) : lock_(progress.mutex_) { progress.clear(); }

void Progress::clear() {
  if (is_on_screen_) write_to_terminal(std::string(kClearLine));
  is_on_screen_ = false;
}

void Progress::end() {
  const std::lock_guard<base::Mutex> lock(mutex_);
  clear();
  form_ = Form::none;
}

void Progress::add_earlier(std::size_t count, std::optional<double> share) {
  const std::lock_guard<base::Mutex> lock(mutex_);
  earlier_ += count;
  earlier_share_ = share.value_or(0);
}

void Progress::add(std::size_t count, std::optional<double> share) {
  const std::lock_guard<base::Mutex> lock(mutex_);
  done_ += count;
  if (form_ == Form::none) return;
  const auto now = Clock::now();
  if (now - start_ < kFirstShown ||
      now - shown_ < (form_ == Form::line ? Clock::duration(kBetweenLines) : kBetweenEvents))
    return;
  shown_ = now;
  show(now, share);
}

void Progress::show(Clock::time_point now, std::optional<double> share) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done_) / seconds;
  const std::size_t all = earlier_ + done_;
  std::optional<double> part = share, left;
  if (!part && total_ && *total_ > 0) part = static_cast<double>(all) / static_cast<double>(*total_);
  if (share && *share > earlier_share_) {
    left = seconds / (*share - earlier_share_) * (1 - *share);
  } else if (!share && total_ && rate > 0) {
    left = static_cast<double>(*total_ - std::min(all, *total_)) / rate;
  }
  if (form_ == Form::events) {
    base::log(base::LogLevel::info, "progress",
              {{"verb", verb_},
               {unit_, std::to_string(all)},
               {"of", total_ ? std::to_string(*total_) : "unknown"},
               {unit_ + "_per_second", shown(rate, 1)},
               {"left", left ? shown_duration(*left) : "unknown"}});
    return;
  }
  std::string line = std::string(kClearLine) + verb_ + ": ";
  line += total_ && unit_ != "bytes" ? std::to_string(all) : amount(static_cast<double>(all), unit_, 0);
  if (total_) line += " of " + amount(static_cast<double>(*total_), unit_, 0);
  if (part) line += " (" + shown(std::min(*part, 1.0) * 100, 0) + " %)";
  line += ", " + amount(rate, unit_, rate < 10 ? 1 : 0) + "/s";
  if (left) line += ", " + shown_duration(*left) + " left";
  write_to_terminal(line);
  is_on_screen_ = true;
}

}  // namespace alate::app
