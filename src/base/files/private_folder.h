// Folders of caches: what lies there is believed, and some of it is run, so nobody else may have put it there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace alate::base {

/// Why a file or folder, or what lies in it, may be another user's making, and what to do about it: it belongs neither
/// to this process's user nor to root, or its group or others may write to it. Empty where it is to be trusted, or not
/// there. On Windows always empty: folders of a user's profile are that user's own.
std::string reason_to_distrust(const std::filesystem::path& path);

/// Whether there is no such reason. The first time that there is one for a path, it is logged as a warning.
bool is_trusted(const std::filesystem::path& path);

enum class Readers { owner, all };

/// Makes a folder, and those above it that are missing, to which only this user may write and which these may read:
/// mode 0700 or 0755. Throws unavailable. Leaves folders alone that are there.
void make_own_folder(const std::filesystem::path& folder, Readers readers);

/// Takes the permissions of a file (then 0600) or folder (0700) from all but its owner. Throws unavailable.
void keep_from_others(const std::filesystem::path& path);

/// A folder (0700) of files (0600) that this program wrote. Copies are the same folder; any number of threads and
/// processes may use it.
class PrivateFolder {
 public:
  explicit PrivateFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }

  /// The whole of a file; nothing where it is not there, too large or cannot be read, or it or the folder is not to be
  /// trusted.
  std::optional<std::string> read(std::string_view name, std::size_t max_bytes) const;
  /// Replaces a file as a whole, after making the folder. Throws unavailable, also where the folder is not to be
  /// trusted.
  void write(std::string_view name, std::span<const std::byte> bytes) const;
  /// Makes the folder, or takes it from the eyes of others where it is there. Throws unavailable, also where it is not
  /// to be trusted.
  void make() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace alate::base
