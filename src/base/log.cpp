#include "base/log.h"

#define FMT_HEADER_ONLY
#define SPDLOG_EOL "\n"
#define SPDLOG_LEVEL_NAMES \
  { "trace", "debug", "info", "warn", "error", "critical", "off" }
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/log_format.h"
#include "base/threads/mutex.h"

namespace alate::base {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 4> kStyleNames = {"terminal", "json", "logfmt", "noop"};

template <typename Enum, std::size_t count>
std::optional<Enum> parse_name(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  return level == LogLevel::off ? spdlog::level::off : static_cast<spdlog::level::level_enum>(level);
}

// Times are UTC with milliseconds, in RFC 3339 format.
const char* pattern_of(LogStyle style) {
  switch (style) {
    case LogStyle::json: return R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";
    case LogStyle::logfmt: return "time=%Y-%m-%dT%H:%M:%S.%eZ %v";
    case LogStyle::terminal:
    case LogStyle::noop: break;
  }
  return "%^%l%$: %v";
}

class Log {
 public:
  Log() { configure(LogLevel::warn, LogStyle::terminal); }

  bool wants(LogLevel level) const { return level != LogLevel::off && level >= least_.load(std::memory_order_relaxed); }

  void configure(LogLevel level, LogStyle style) {
    const std::lock_guard lock(mutex_);
    style_ = style;
    least_.store(style == LogStyle::noop ? LogLevel::off : level, std::memory_order_relaxed);
    logger_.set_level(spdlog::level::trace);
    logger_.set_pattern(pattern_of(style), spdlog::pattern_time_type::utc);
    logger_.flush_on(spdlog::level::trace);
  }

  LogStyle style() {
    const std::lock_guard lock(mutex_);
    return style_;
  }

  void redirect(LogSink sink, LogLevel level) {
    const std::lock_guard lock(mutex_);
    sink_ = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
    if (sink_ != nullptr || style_ != LogStyle::noop) least_.store(level, std::memory_order_relaxed);
  }

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields, std::string_view sentence) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (const std::shared_ptr<const LogSink> sink = sink_) {
      lock.unlock();
      return give(*sink, {level, event, fields});
    }
    std::string payload;
    switch (style_) {
      case LogStyle::terminal: payload = terminal_payload(event, fields, sentence); break;
      case LogStyle::json: payload = json_payload(level, event, fields); break;
      case LogStyle::logfmt: payload = logfmt_payload(level, event, fields); break;
      case LogStyle::noop: return;
    }
    logger_.log(to_spdlog(level), spdlog::string_view_t(payload.data(), payload.size()));
  }

 private:
  // Events that the sink causes itself are dropped: it would be called for ever.
  static void give(const LogSink& sink, const LogEvent& event) {
    thread_local bool is_in_sink = false;
    if (is_in_sink) return;
    is_in_sink = true;
    try {
      sink(event);
    } catch (...) {  // whoever logs has a task of its own
    }
    is_in_sink = false;
  }

  Mutex mutex_;
  std::shared_ptr<const LogSink> sink_;  // null: standard error
  std::atomic<LogLevel> least_{LogLevel::warn};
  LogStyle style_ = LogStyle::terminal;
  // The single-threaded sink suffices, since all use is under this class's lock.
  spdlog::logger logger_{"alate", std::make_shared<spdlog::sinks::stderr_color_sink_st>()};
};

// Never destroyed: threads that outlive main() may still log.
Log& the_log() {
  static Log& log = *std::make_unique<Log>().release();
  return log;
}

}  // namespace

std::string_view to_string(LogStyle style) { return kStyleNames.at(static_cast<std::size_t>(style)); }
std::optional<LogLevel> parse_log_level(std::string_view name) { return parse_name<LogLevel>(kLevelNames, name); }
std::optional<LogStyle> parse_log_style(std::string_view name) { return parse_name<LogStyle>(kStyleNames, name); }

void configure_log(LogLevel level, LogStyle style) { the_log().configure(level, style); }

LogStyle log_style() { return the_log().style(); }

bool logs(LogLevel level) { return the_log().wants(level); }

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  log(level, event, fields, {});
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields, std::string_view sentence) {
  if (logs(level)) the_log().write(level, event, {fields.begin(), fields.size()}, sentence);
}

}  // namespace alate::base

namespace alate {

std::string_view to_string(LogLevel level) { return base::kLevelNames.at(static_cast<std::size_t>(level)); }

void set_log_sink(LogSink sink, LogLevel level) { base::the_log().redirect(std::move(sink), level); }

}  // namespace alate
