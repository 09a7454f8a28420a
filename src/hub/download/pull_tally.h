// One pull's totals, for its progress.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/hub.h"
#include "base/threads/mutex.h"

namespace alate::hub {

/// What is thrown for more than PullOptions::max_bytes.
inline Error too_many_bytes(const std::string& id, std::uint64_t limit) {
  return make_error(ErrorCode::resource_exhausted, id, " is larger than the limit of ", limit,
                    " bytes; take a smaller variant, or raise the limit");
}

/// Thread-safe. `options` must outlive it.
class PullTally {
 public:
  /// `bytes` are still to be fetched; `files` as they are at the beginning.
  PullTally(const PullOptions& options, std::string id, std::uint64_t bytes, std::vector<PulledPart> files)
      : options_(options),
        id_(std::move(id)),
        files_(std::move(files)),
        progress_{.total_bytes = bytes, .total_files = files_.size(), .files = files_} {}

  /// More of a file, or less where it begins again. Throws too_many_bytes.
  void add_bytes(std::size_t file, std::int64_t bytes) {
    const std::lock_guard<base::Mutex> lock(mutex_);
    bytes_ += bytes;
    progress_.done_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes_, 0));
    // Of a file whose size is not stated only this tells how large it is.
    if (options_.max_bytes > 0 && progress_.done_bytes > options_.max_bytes)
      throw too_many_bytes(id_, options_.max_bytes);
    PulledPart& part = files_[file];
    const auto done = static_cast<std::int64_t>(part.done_bytes) + bytes;
    part.done_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(done, 0));
    part.total_bytes = std::max(part.total_bytes, part.done_bytes);
    report();
  }
  void add_file(std::size_t file) {
    const std::lock_guard<base::Mutex> lock(mutex_);
    ++progress_.done_files;
    files_[file].is_done = true;
    files_[file].done_bytes = files_[file].total_bytes;
    report();
  }

 private:
  void report() const {
    if (options_.progress) options_.progress(progress_);
  }

  const PullOptions& options_;
  const std::string id_;
  base::Mutex mutex_;
  std::int64_t bytes_ = 0;
  std::vector<PulledPart> files_;
  PullProgress progress_;
};

/// Files that a pull fetches at a time.
inline constexpr std::size_t kFilesAtOnce = 4;

}  // namespace alate::hub
