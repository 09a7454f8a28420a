// Implements --profile: collects kernel calls and reports them relative to the machine's peaks.
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

/// One per command. Does nothing without --profile.
class Profiler {
 public:
  /// Adds --profile to the command's options.
  void declare(Arguments& arguments);
  bool is_wanted() const { return wanted_; }

  /// Throws unsupported if the backend does not report its kernel calls. Call it when the model is loaded.
  void check(const std::string& backend) const;

  /// Options for the runs to be profiled.
  backends::RunOptions options() {
    return {.cancellation = until_interrupted(), .profile = wanted_ ? &calls_ : nullptr};
  }
  /// Call after such runs, with the time they took, while the model still exists.
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
