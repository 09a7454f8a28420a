// How far a long job is, for the person who waits for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"

namespace alate::app {

/// Declares --no-progress.
void declare_progress(Arguments& arguments, bool& is_hidden);

/// From the second second on: one line on standard error that is rewritten a few times a second and is gone at the end,
/// if standard error is a terminal that can do that and no results are written to a terminal; otherwise an event a
/// minute in the log, at level info. One thread at a time.
class Progress {
 public:
  /// Neither line nor events if `is_hidden` or with --quiet. `total` is the number of texts, where it is known.
  Progress(const CommonOptions& options, const Output& output, bool is_hidden, std::string_view verb,
           std::optional<std::size_t> total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many more texts are done. `share` is that of the whole input, if the number of texts is not known.
  void add(std::size_t texts, std::optional<double> share = {});
  /// Texts of the job that were done before it began: they count, but not for its speed.
  void add_earlier(std::size_t texts) { earlier_ += texts; }
  /// Removes the line until the next `add`, before something else is written to standard error.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Form { none, line, events };

  Form form_ = Form::none;
  std::string verb_;
  std::optional<std::size_t> total_;
  std::size_t earlier_ = 0, done_ = 0;
  std::optional<double> share_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  bool is_on_screen_ = false;
};

/// "45 s", "3 min 5 s", "2 h 10 min".
std::string shown_duration(double seconds);

}  // namespace alate::app
