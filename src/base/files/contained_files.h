// Names and links in folders out of other hands: whether they stay inside the folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/mapped_file.h"
#include "base/files/real_file.h"

namespace alate::base {

inline constexpr std::size_t kMaxNamePartBytes = 255;
inline constexpr std::size_t kMaxRelativePathBytes = 1024;

/// Whether a name can only mean an entry of a folder itself, on every operating system: 1 to 255 bytes, not "." or
/// "..", without control characters and / \ : * ? " < > |.
bool is_plain_file_name(std::string_view name);

/// Whether a path can only mean something inside a folder: plain file names with / between them, at most 1024 bytes.
/// Parts that are "." are passed over; one that is nothing else is the folder itself, and no plain path.
bool is_plain_relative_path(std::string_view path);

/// Where the files of a model's folder may really be. A link inside the folder may lead to a place inside the folder;
/// in huggingface_hub's cache, whose `…/snapshots/REVISION` holds links into `…/blobs`, also into these blobs. The
/// folder itself is the caller's own word: links on the way to it are followed.
///
/// Where links lead may change between a look and an open. Files are therefore opened by functions that are given this
/// object and look at what they have open (read_contained_file, MappedFile::open); the checks by name are for what
/// others open.
///
/// Immutable; safe to share among threads.
class ContainedFiles {
 public:
  explicit ContainedFiles(const std::filesystem::path& folder);

  /// Throws corrupt, naming the path, where it is there and really lies somewhere else. What is not there passes: who
  /// opens it says so.
  void require_inside(const std::filesystem::path& path) const;
  /// The same, and throws corrupt for what is there and no regular file: a folder, a named pipe, a device.
  void require_file(const std::filesystem::path& path) const;
  /// The same for what a path led to when it was opened.
  void require_file(const std::filesystem::path& path, const RealFile& opened) const;

 private:
  void require_inside(const std::filesystem::path& path, const RealFile& found) const;

  std::vector<std::filesystem::path> roots_;  // without links
};

/// The whole of a small file of a model's folder as text. Throws as ContainedFiles::require_file and read_text_file.
std::string read_contained_file(const std::filesystem::path& folder, std::string_view name,
                                std::size_t max_bytes = kMaxTextBytes);

}  // namespace alate::base
