// Files and folders that are made under a temporary name beside their target, and take its name when they are complete.
#pragma once

#include <filesystem>
#include <optional>

#include "base/files/unfinished_entries.h"

namespace alate::base {

enum class EntryKind { file, folder };

/// Removed when it is destroyed, and by remove_unfinished_entries, unless it has been published. Its temporary name is
/// TARGET.tmp.PROCESS.N, for a folder .TARGET.tmp.PROCESS.N. While it exists it is locked, so that
/// remove_abandoned_entries of other processes leaves it alone. One thread at a time.
class TemporaryEntry {
 public:
  /// Creates it. `mode` holds the permissions before the process's umask; no effect on Windows. Throws not_found when
  /// the folder of `target` does not exist, invalid_argument when a file's `target` is a folder, resource_exhausted
  /// when the disk is full, otherwise unavailable.
  TemporaryEntry(std::filesystem::path target, EntryKind kind, unsigned mode);
  /// A file TARGET.partial that outlives this object and the process until it is published: what an earlier process
  /// has left of it, or an empty one. Throws as above, and unavailable while another process has it.
  struct Kept {};
  TemporaryEntry(Kept, std::filesystem::path target);
  ~TemporaryEntry();
  TemporaryEntry(const TemporaryEntry&) = delete;
  TemporaryEntry& operator=(const TemporaryEntry&) = delete;

  const std::filesystem::path& target() const { return target_; }
  /// The temporary name.
  const std::filesystem::path& path() const { return path_; }
  /// Of a file, open for writing.
  int descriptor() const { return descriptor_; }

  /// Renames it to its target. A file replaces one of that name. Call at most once, when everything is written. Throws
  /// as the constructor; it is then still temporary.
  void publish();
  /// Removes it, a kept file too. At most once, instead of publishing it.
  void discard() noexcept;

 private:
  void close();

  std::filesystem::path target_, path_;
  bool is_kept_ = false;
  int descriptor_ = -1;
  std::optional<UnfinishedEntry> unfinished_;
};

/// Removes temporary entries of `target` that killed processes have left behind: those with exactly such a name, of
/// this user, whose process is gone and whose lock is free. Never follows links. Failures are ignored.
void remove_abandoned_entries(const std::filesystem::path& target, EntryKind kind);

}  // namespace alate::base
