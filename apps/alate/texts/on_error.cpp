#include "apps/alate/texts/on_error.h"

#include "base/log.h"
#include "formats/json.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostReported = 20;

}  // namespace

void declare(Arguments& arguments, OnError& on_error) {
  arguments.one_of("--on-error", "ACTION", "at a line that is not a text, or a text without an answer; default: stop",
                   {"stop", "skip"},
                   [&on_error](std::string_view name) { on_error = name == "skip" ? OnError::skip : OnError::stop; });
}

RefusedLine refused_line(const TextSource& source, const Error& error, std::size_t before) {
  return {.before = before, .line = source.line(), .code = error.code(), .message = error.message()};
}

std::string begin_line(std::string_view members) { return members.empty() ? "{" : "{" + std::string(members) + ","; }

std::string error_line(const RefusedLine& refused) {
  std::string text = "{\"error\":{\"code\":\"";
  text += to_string(refused.code);
  text += "\",\"message\":";
  formats::append_json_string(text, refused.message);
  return text + "},\"line\":" + std::to_string(refused.line) + "}";
}

void SkippedLines::add(std::span<const RefusedLine> refused) {
  for (const RefusedLine& each : refused) {
    if (count_++ == 0) first_ = each.message;
    if (count_ <= kMostReported)
      base::log(base::LogLevel::warn, "a line was skipped",
                {{"line", std::to_string(each.line)}, {"reason", each.message}}, "a line was skipped: " + each.message);
  }
}

void SkippedLines::finish(std::size_t done) const {
  if (count_ == 0) return;
  if (done == 0)
    throw make_error(ErrorCode::invalid_argument, "all lines of the input were refused (", count_,
                     "); the first because ", first_);
  base::log(base::LogLevel::warn, "lines were skipped: they are not in the result, or are errors in it",
            {{"count", std::to_string(count_)}, {"done", std::to_string(done)}},
            std::to_string(count_) + " lines of " + std::to_string(count_ + done) +
                " were skipped: they are not in the result, or are errors in it");
}

}  // namespace alate::app
