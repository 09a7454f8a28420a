// An exclusive lock file, so that two processes do not do the same work.
#pragma once

#include <filesystem>
#include <memory>

namespace alate::base {

/// Waits until nobody else holds the lock. The file is created if missing and is never removed. The lock is released
/// when the object is destroyed or the process ends. It also excludes threads of the same process.
class FileLock {
 public:
  /// Throws not_found when the folder does not exist, otherwise unavailable.
  explicit FileLock(const std::filesystem::path& path);
  /// The lock if nobody else holds it, otherwise null. Throws as the constructor.
  static std::unique_ptr<FileLock> try_lock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  enum class Wait { yes, no };
  FileLock(const std::filesystem::path& path, Wait wait);

  long long handle_ = -1;
};

}  // namespace alate::base
