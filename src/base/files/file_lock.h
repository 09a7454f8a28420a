// A file that one process at a time holds, so that two do not do the same work.
#pragma once

#include <filesystem>

namespace alate::base {

/// Waits until nobody else holds the file, which is made where it does not exist and stays. It is let go when the
/// object is destroyed or the process ends. Threads of one process wait for each other too.
class FileLock {
 public:
  /// Throws not_found when the folder does not exist, otherwise unavailable.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  long long handle_ = -1;
};

}  // namespace alate::base
