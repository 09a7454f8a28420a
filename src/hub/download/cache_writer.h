// Writing of a model's files into huggingface_hub's cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/files/file_lock.h"
#include "folders/cache_layout.h"

namespace alate::hub {

/// Of one snapshot. Thread-safe; any number of processes may write to a cache. All functions throw file_write_error's
/// codes for a folder that cannot be written and a full disk, and corrupt for a folder that is a link.
class CacheWriter {
 public:
  /// REQUIRES: is_commit_hash(commit).
  CacheWriter(folders::CachedRepo repo, std::string commit) : repo_(std::move(repo)), commit_(std::move(commit)) {}

  const folders::CachedRepo& repo() const { return repo_; }
  const std::string& commit() const { return commit_; }
  /// Makes the folders, and marks the cache as one for programs that make backups.
  void make_folders(const std::filesystem::path& cache) const;
  /// Waits for the lock of a blob, which huggingface_hub takes too. Throws cancelled.
  std::unique_ptr<base::FileLock> lock(std::string_view blob, const std::stop_token& stop) const;
  /// Whether a blob of this length is there.
  bool has_blob(std::string_view blob, std::uint64_t bytes) const;
  /// Whether the snapshot has the file, as a link to this blob or as a file of this length.
  bool has_file(const std::string& name, std::string_view blob, std::uint64_t bytes) const;
  std::filesystem::path part(std::string_view blob) const;
  /// Links the file in the snapshot to its blob. REQUIRES: the name is one that require_portable_names accepts.
  void link(const std::string& name, std::string_view blob) const;
  /// Puts a file of this program's own into the snapshot, as a blob named after its SHA-256 and a link to it. The blob
  /// of an earlier one is removed. Throws not_found where the folders have been removed meanwhile.
  void put_text(const std::string& name, std::string_view text) const;
  /// Records that a branch or tag is this commit.
  void record_ref(std::string_view revision) const;

 private:
  folders::CachedRepo repo_;
  std::string commit_;
};

/// Throws resource_exhausted where the folder's disk has less room than this; nothing if the system does not say.
/// `setting` is what names another folder.
void require_room(const std::filesystem::path& folder, std::uint64_t bytes, const std::string& what,
                  std::string_view setting = "HF_HUB_CACHE");

}  // namespace alate::hub
