// Files and folders that must not outlive the process unless it finishes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace alate::base {

/// Registers a file or folder for remove_unfinished_entries while the object lives. It does not remove anything itself.
/// When very many are registered at once, further ones are not: they are only left behind if a signal ends the process.
class UnfinishedEntry {
 public:
  /// The entry must not be a link to something else: folders are removed with all that is in them.
  explicit UnfinishedEntry(const std::filesystem::path& path);
  ~UnfinishedEntry();
  UnfinishedEntry(const UnfinishedEntry&) = delete;
  UnfinishedEntry& operator=(const UnfinishedEntry&) = delete;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::unique_ptr<std::filesystem::path::value_type[]> name_;
  std::size_t slot_ = kNone;
};

/// Removes all registered files and folders. For signal handlers that end the process: on Linux it makes only system
/// calls.
void remove_unfinished_entries() noexcept;

/// Removes one file, link, or folder with all in it; links are not followed. As remove_unfinished_entries, for any
/// name.
void remove_entry(const std::filesystem::path::value_type* name) noexcept;

}  // namespace alate::base
