// Which file a path leads to, and whether it is still the same.
#pragma once

#include <cstdint>
#include <filesystem>

namespace alate::base {

/// Two equal identities, of a file that was left alone in between, are the same bytes: what replaces a file is another
/// one, and what writes into it moves the second time, which programs cannot set.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t file = 0;  // number on the device
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970; may be set to anything
  std::int64_t changed_ns = 0;   // of bytes, times or names; only the system sets it
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Of the regular file behind links. Throws not_found, or unavailable for what is no regular file or cannot be asked.
FileIdentity file_identity(const std::filesystem::path& path);

}  // namespace alate::base
