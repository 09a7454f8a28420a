// Files that are written under a temporary name and appear complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/files/temporary_entry.h"

namespace alate::base {

/// Readers see either the old or the new content. Unless it is committed, nothing changes and nothing is left behind,
/// whatever ends the process; of a process that was killed outright, remove_abandoned_entries removes it. One thread at
/// a time.
class AtomicFile {
 public:
  /// Creates the temporary file beside `target`, so that a place that cannot be written is refused before there is
  /// anything to write. A link at `target` is replaced, not followed. Throws as TemporaryEntry.
  explicit AtomicFile(const std::filesystem::path& target, unsigned mode = 0666)
      : entry_(target, EntryKind::file, mode) {}

  /// One that is kept as TemporaryEntry::Kept; it must be continued before it is written.
  AtomicFile(TemporaryEntry::Kept kept, const std::filesystem::path& target) : entry_(kept, target) {}
  /// The bytes that are in the temporary file. Throws as `write`.
  std::int64_t kept_bytes() const;
  /// Cuts it to so many bytes; those written next come behind them. Throws as `write`.
  void continue_at(std::int64_t bytes);
  /// Puts what has been written on disk, still under the temporary name, and returns how many bytes there are. Throws
  /// as `write`.
  std::int64_t sync();

  /// Throws resource_exhausted when the disk is full, otherwise unavailable.
  void write(std::span<const std::byte> bytes);
  /// Overwrites bytes at the start of the file, at most as many as were written. Throws as `write`.
  void rewrite_start(std::span<const std::byte> bytes);
  /// Puts the file in its place; its bytes are on disk when this returns. Call once, after all bytes. Throws as
  /// `write`. Windows refuses while the old file is mapped somewhere: unavailable.
  void commit();
  /// Removes what has been written, of a kept file too. Call instead of `commit`, and nothing after it.
  void discard() noexcept { entry_.discard(); }
  /// The temporary name, under which what has been written can be read.
  const std::filesystem::path& path() const { return entry_.path(); }

 private:
  TemporaryEntry entry_;
  std::int64_t bytes_ = 0;  // written
};

/// Writes a file that way. Throws as AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes, unsigned mode = 0666);

}  // namespace alate::base
