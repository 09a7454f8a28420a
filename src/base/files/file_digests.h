// SHA-256 digests of files, computed once per file and cached on disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/files/file_identity.h"

namespace alate::base {

/// Digests are kept in a folder under the file's identity, so that a file of gigabytes is read for its digest only
/// once. The digest of a file changed within the last seconds is not cached: the file could change again within one
/// tick of the file system's clock. Thread-safe; processes may share the folder. Anyone who can write there can forge
/// digests, so the folder must be private to the user.
class FileDigests {
 public:
  static constexpr std::size_t kMostRemembered = 4096;
  static constexpr std::chrono::nanoseconds kSettled = std::chrono::seconds(2);

  /// An empty path disables caching. The folder is created when the first digest is stored.
  explicit FileDigests(std::filesystem::path folder, std::chrono::nanoseconds settled = kSettled)
      : folder_(std::move(folder)), settled_(settled) {}

  /// 64 lower-case hexadecimal digits. Throws as MappedFile::open.
  std::string sha256(const std::filesystem::path& path) const;
  /// The digest of bytes that were mapped from `path` when it had this identity.
  std::string sha256(std::span<const std::byte> bytes, const std::filesystem::path& path,
                     const FileIdentity& identity) const;
  std::optional<std::string> remembered(const FileIdentity& identity) const;

 private:
  std::filesystem::path place_of(const FileIdentity& identity) const;
  void remember(const FileIdentity& identity, const std::string& digest) const;
  void make_room() const;

  std::filesystem::path folder_;
  std::chrono::nanoseconds settled_;
};

}  // namespace alate::base
