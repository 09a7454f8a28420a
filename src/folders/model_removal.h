// Removing models from the models directory and from huggingface_hub's cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "folders/cache_layout.h"

namespace alate::folders {

/// What is to be removed. Links are removed, never followed.
struct Removal {
  std::vector<std::filesystem::path> entries;  // files, links and folders with all in them, in the order of removal
  std::vector<std::filesystem::path> locks;    // of the blobs among them: nobody may hold them
  std::uint64_t bytes = 0;                     // on disk
};

/// A model of the models directory; one that is a link is removed without what the link leads to. Throws
/// invalid_argument for a folder that is not a direct entry of the models directory or of an owner's folder in it.
Removal plan_removal(const std::filesystem::path& folder, const std::filesystem::path& models_directory);

/// Revisions of a model in the cache, with the refs that name them and the blobs that no other revision uses. Where no
/// other is left, all of the repository. Throws invalid_argument for a repository's folder that is a link,
/// resource_exhausted as CachedRepo::files.
Removal plan_removal(const CachedRepo& repo, const std::vector<std::string>& commits);

/// Bytes of a file, or of all files below a folder, without following links.
std::uint64_t bytes_on_disk(const std::filesystem::path& path);
/// The names of the blobs that files of these commits are links to.
std::vector<std::string> used_blobs(const CachedRepo& repo, const std::vector<std::string>& commits);

/// Carries it out. A process that is killed meanwhile leaves entries that are no model any more and that
/// `clean_cache` removes. Throws unavailable while another process writes one of the files (it has its lock) before
/// anything is removed, and where the system refuses.
void carry_out(const Removal& removal);

}  // namespace alate::folders
