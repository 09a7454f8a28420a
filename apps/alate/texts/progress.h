// How far a long job is, for the person who waits for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "base/threads/mutex.h"

namespace alate::app {

/// Declares --no-progress.
void declare_progress(Arguments& arguments, bool& is_hidden);

/// From the second second on: one line on standard error that is rewritten a few times a second and is gone at the end,
/// if standard error is a terminal that can do that and no results are written to a terminal; otherwise an event a
/// minute in the log, at level info. Thread-safe.
class Progress {
 public:
  /// Neither line nor events if `is_hidden` or with --quiet. `total` is the number of texts, where it is known, or of
  /// what `unit` names; "bytes" are shown as KiB, MiB, GiB. `ends_first`: results are written to a file, or after
  /// `end`.
  Progress(const CommonOptions& options, bool ends_first, bool is_hidden, std::string_view verb,
           std::optional<std::size_t> total, std::string_view unit = "texts");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many more are done. `share` is that of the whole job, where it says more than the number.
  void add(std::size_t count, std::optional<double> share = {});
  /// What was done before this run: it counts, but not for the speed. `share` is what `add` would have been given.
  void add_earlier(std::size_t count, std::optional<double> share = {});

  /// While it exists, there is no line: something else is written to standard error.
  class [[nodiscard]] Hidden {
   public:
    explicit Hidden(Progress& progress);

   private:
    std::unique_lock<base::Mutex> lock_;
  };
  Hidden hide() { return Hidden(*this); }
  /// There is no line from now on.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Form { none, line, events };

  void clear();
  void show(Clock::time_point now, std::optional<double> share);

  base::Mutex mutex_;
  Form form_ = Form::none;
  std::string verb_, unit_;
  std::optional<std::size_t> total_;
  std::size_t earlier_ = 0, done_ = 0;
  double earlier_share_ = 0;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  bool is_on_screen_ = false;
};

/// "45 s", "3 min 5 s", "2 h 10 min".
std::string shown_duration(double seconds);

}  // namespace alate::app
