// --on-error: what happens at a line that is refused.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "apps/alate/arguments.h"
#include "apps/alate/texts/text_source.h"

namespace alate::app {

enum class OnError { stop, skip };

/// Declares --on-error.
void declare(Arguments& arguments, OnError& on_error);

/// A line that was left out.
struct RefusedLine {
  std::size_t before = 0;  // the text of its part that comes after it
  std::size_t line = 0;    // its number, from 1
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
};

/// The line that `source` has just refused with `error`.
RefusedLine refused_line(const TextSource& source, const Error& error, std::size_t before);

/// The beginning of an object on a line of jsonl, with what is kept of its input (InputText::members), up to where its
/// first member of its own comes: `{` or `{"id": 7,`.
std::string begin_line(std::string_view members);

/// {"error":{"code":"invalid_argument","message":"..."},"line":3}
std::string error_line(const RefusedLine& refused);

/// Reports the lines that were left out: a warning for each of the first, and one for all at the end.
class SkippedLines {
 public:
  SkippedLines() = default;
  /// As they were when `count` and `first` were asked for.
  SkippedLines(std::size_t count, std::string first) : count_(count), first_(std::move(first)) {}

  const std::string& first() const { return first_; }
  void add(std::span<const RefusedLine> refused);
  std::size_t count() const { return count_; }
  /// Throws invalid_argument if there were lines and none was done.
  void finish(std::size_t done) const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace alate::app
