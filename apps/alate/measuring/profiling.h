// What --profile does: gathers kernel calls, and shows them at the end against the machine's peaks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/alate/arguments.h"
#include "apps/alate/process_setup.h"
#include "backends/backend.h"
#include "formats/json.h"
#include "runtime/profiling/profile.h"

namespace alate::app {

/// One for a command. Without --profile it does nothing.
class Profiler {
 public:
  /// Adds --profile to the command's options.
  void declare(Arguments& arguments);
  bool is_wanted() const { return wanted_; }

  /// Throws unsupported for a backend that does not tell its kernel calls: to be asked when the model is loaded.
  void check(const std::string& backend) const;

  /// For the runs that are to be in the profile.
  backends::RunOptions options() {
    return {.cancellation = until_interrupted(), .profile = wanted_ ? &calls_ : nullptr};
  }
  /// After such runs, with the time they took, while the model is still there.
  void add(double seconds);

  /// Both measure the machine's peaks, which takes up to two seconds.
  formats::Json json(std::size_t runs) const;
  /// Writes the tables to standard error.
  void show(std::size_t runs) const;

 private:
  bool wanted_ = false;
  std::vector<backends::StepTime> calls_;
  runtime::Profile profile_;
};

}  // namespace alate::app
