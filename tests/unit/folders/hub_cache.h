// A cache as huggingface_hub makes it; tests/golden/check_hub_cache.py compares it with one that the package has made.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/files/mapped_file.h"
#include "base/sha256.h"

namespace alate::tests {

enum class CacheLinks { symlinks, none };

/// Adds all files of `model` as a snapshot of the repository `id` ("owner/name"), by their SHA-256 as the hub names
/// large files. Without links, as where a system has none, the files are in the snapshot itself. Returns the snapshot.
inline std::filesystem::path add_to_hub_cache(const std::filesystem::path& cache, const std::string& id,
                                              const std::string& commit, const std::string& ref,
                                              const std::filesystem::path& model,
                                              CacheLinks links = CacheLinks::symlinks) {
  namespace fs = std::filesystem;
  std::string folder = "models--" + id;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  const fs::path repo = cache / folder, snapshot = repo / "snapshots" / commit;
  fs::create_directories(repo / "blobs");
  fs::create_directories(repo / "refs");
  fs::create_directories(snapshot);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(model)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = entry.path().lexically_relative(model), place = snapshot / name;
    fs::create_directories(place.parent_path());
    if (links == CacheLinks::none) {
      fs::copy_file(entry.path(), place, fs::copy_options::overwrite_existing);
      continue;
    }
    const std::string text = base::read_text_file(entry.path());
    const std::string digest = base::Sha256().add(std::as_bytes(std::span(text))).finish();
    fs::copy_file(entry.path(), repo / "blobs" / digest, fs::copy_options::overwrite_existing);
    fs::remove(place);
    fs::create_symlink((repo / "blobs" / digest).lexically_relative(place.parent_path()), place);
  }
  if (!ref.empty()) std::ofstream(repo / "refs" / ref) << commit;
  return snapshot;
}

}  // namespace alate::tests
