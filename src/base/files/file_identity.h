// The identity of the file that a path leads to, for detecting changes.
#pragma once

#include <cstdint>
#include <filesystem>

namespace alate::base {

/// Equal identities mean equal bytes: replacing a file gives another file number, and writing into it changes
/// `changed_ns`, which programs cannot set.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t file = 0;  // number on the device
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970; programs can set it
  std::int64_t changed_ns = 0;   // last change of contents, times or names; only the system sets it
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The identity of a regular file; links are followed. Throws not_found, or unavailable if it is not a regular file or
/// cannot be queried.
FileIdentity file_identity(const std::filesystem::path& path);

}  // namespace alate::base
