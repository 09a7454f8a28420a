// One pull's totals, for its progress.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "alate/hub.h"
#include "base/threads/mutex.h"

namespace alate::hub {

/// Thread-safe. `options` must outlive it.
class PullTally {
 public:
  PullTally(const PullOptions& options, std::uint64_t bytes, std::size_t files)
      : options_(options), progress_{.total_bytes = bytes, .total_files = files} {}

  /// A negative count where bytes must be fetched again.
  void add_bytes(std::int64_t bytes) {
    const std::lock_guard<base::Mutex> lock(mutex_);
    bytes_ += bytes;
    progress_.done_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes_, 0));
    report();
  }
  void add_file() {
    const std::lock_guard<base::Mutex> lock(mutex_);
    ++progress_.done_files;
    report();
  }

 private:
  void report() const {
    if (options_.progress) options_.progress(progress_);
  }

  const PullOptions& options_;
  base::Mutex mutex_;
  std::int64_t bytes_ = 0;
  PullProgress progress_;
};

/// Files that a pull fetches at a time.
inline constexpr std::size_t kFilesAtOnce = 4;

}  // namespace alate::hub
