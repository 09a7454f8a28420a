// Private cache folders: their contents are trusted, and some of them executed, so no other user may have written them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace alate::base {

/// Why another user may have written a file, a folder or its contents, and what to do about it: its owner is neither
/// this process's user nor root, or its group or others may write to it. Empty if it is trusted or missing. Always
/// empty on Windows, where folders of a user's profile are private to that user.
std::string reason_to_distrust(const std::filesystem::path& path);

/// Whether reason_to_distrust is empty. The first reason found for a path is logged as a warning.
bool is_trusted(const std::filesystem::path& path);

enum class Readers { owner, all };

/// Creates a folder and its missing parents, writable only by this user and readable by `readers`: mode 0700 or 0755.
/// Throws unavailable. Existing folders are left unchanged.
void create_owner_writable_folder(const std::filesystem::path& folder, Readers readers);

/// Restricts a file (to 0600) or folder (to 0700) to its owner. Throws unavailable.
void restrict_to_owner(const std::filesystem::path& path);

/// A folder (0700) of files (0600) written by this program. Copies refer to the same folder; any number of threads and
/// processes may use it.
class PrivateFolder {
 public:
  explicit PrivateFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }

  /// The contents of a file; nothing if it is missing, too large or unreadable, or if it or the folder is not trusted.
  std::optional<std::string> read(std::string_view name, std::size_t max_bytes) const;
  /// Replaces a file atomically, after creating the folder. Throws unavailable, also if the folder is not trusted.
  void write(std::string_view name, std::span<const std::byte> bytes) const;
  /// Creates the folder, or restricts an existing one to its owner. Throws unavailable, also if it is not trusted.
  void make() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace alate::base
