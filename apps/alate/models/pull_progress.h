// How far a pull is, as a line of progress.
#pragma once

#include <cstdint>
#include <optional>

#include "alate/hub.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/progress.h"

namespace alate::app {

/// For PullOptions::progress. One at a time.
class ShownProgress {
 public:
  ShownProgress(const CommonOptions& options, bool is_hidden) : options_(options), is_hidden_(is_hidden) {}

  void show(const PullProgress& at);
  void end() { progress_.reset(); }

 private:
  const CommonOptions& options_;
  bool is_hidden_;
  std::optional<Progress> progress_;
  std::uint64_t done_ = 0;
};

/// "fetching 3 files (98.0 MiB) of owner/name to FOLDER".
std::string fetching_text(const PulledModel& planned);

}  // namespace alate::app
