// Checks that names and links in untrusted folders stay inside the folder.
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

/// Whether a name can only mean a direct entry of a folder, on every operating system: 1 to 255 bytes, not "." or "..",
/// without control characters and / \ : * ? " < > |.
bool is_plain_file_name(std::string_view name);

/// Whether a path can only mean an entry inside a folder: plain file names separated by /, at most 1024 bytes. "."
/// parts are skipped; a path with only "." parts means the folder itself and is not accepted.
bool is_plain_relative_path(std::string_view path);

/// Where the files of a model's folder may really be. A link inside the folder may lead to a place inside the folder,
/// and, in huggingface_hub's cache, whose `REPOSITORY/snapshots/REVISION` holds links into `REPOSITORY/blobs`, also
/// into these blobs and those that the cache's repositories share. The folder's own path is trusted: links on the way
/// to it are followed.
///
/// The target of a link may change between check and open. Files are therefore opened by functions that take this
/// object and check the file they have opened (read_contained_file, MappedFile::open); the checks by name are for files
/// that other code opens.
///
/// Immutable; safe to share among threads.
class ContainedFiles {
 public:
  explicit ContainedFiles(const std::filesystem::path& folder);

  /// Throws corrupt, naming the path, if it exists and really lies outside. A missing file passes: opening it reports
  /// the error.
  void require_inside(const std::filesystem::path& path) const;
  /// As require_inside; also throws corrupt for an existing entry that is not a regular file: a folder, a named pipe, a
  /// device.
  void require_file(const std::filesystem::path& path) const;
  /// As require_file, for the file that the path led to when it was opened.
  void require_file(const std::filesystem::path& path, const RealFile& opened) const;

 private:
  void require_inside(const std::filesystem::path& path, const RealFile& found) const;

  std::vector<std::filesystem::path> roots_;  // without links
};

/// The contents of a small file of a model's folder as text. Throws as ContainedFiles::require_file and read_text_file.
std::string read_contained_file(const std::filesystem::path& folder, std::string_view name,
                                std::size_t max_bytes = kMaxTextBytes);

}  // namespace alate::base
