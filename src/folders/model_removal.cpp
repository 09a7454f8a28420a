#include "folders/model_removal.h"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/file_lock.h"
#include "base/files/real_file.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

// Locks that are held while entries are removed; each takes a descriptor. Of more it is only seen that they are free.
constexpr std::size_t kMostHeld = 256;

void add(Removal& removal, fs::path path) {
  removal.bytes += bytes_on_disk(path);
  removal.entries.push_back(std::move(path));
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::symlink;
}

// All regular files and links of a folder, by name.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (is_link(folder)) return names;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error))
    names.push_back(entries->path().filename().string());
  std::ranges::sort(names);
  return names;
}

void add_blob(const CachedRepo& repo, const std::string& name, Removal& removal) {
  if (!is_blob_name(name) || is_link(repo.blobs())) return;
  add(removal, repo.blob(name));
  removal.locks.push_back(repo.lock(name));
}

void add_revision(const CachedRepo& repo, const CachedRevision& revision, Removal& removal) {
  for (const std::string& ref : revision.refs) add(removal, repo.ref(ref));
  add(removal, repo.snapshot(revision.commit));
}

void remove_entry(const fs::path& entry) {
  std::error_code error;
  fs::remove_all(entry, error);
  if (error) throw make_error(ErrorCode::unavailable, entry.string(), " cannot be removed: ", error.message());
}

}  // namespace

std::uint64_t bytes_on_disk(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (error || status.type() == fs::file_type::symlink) return 0;
  if (status.type() == fs::file_type::regular) {
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  std::uint64_t total = 0;
  for (fs::recursive_directory_iterator entries(path, error); !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() != fs::file_type::regular) continue;
    const std::uintmax_t bytes = entries->file_size(ignored);
    if (!ignored) total += bytes;
  }
  return total;
}

std::vector<std::string> used_blobs(const CachedRepo& repo, const std::vector<std::string>& commits) {
  std::set<std::string> used;
  for (const std::string& commit : commits) {
    for (CachedFile& file : repo.files(commit)) {
      if (!file.blob.empty()) used.insert(std::move(file.blob));
    }
  }
  return {used.begin(), used.end()};
}

Removal plan_removal(const fs::path& folder, const fs::path& models_directory) {
  // The owner's folder must really be in the models directory; the model's own entry may be a link, which is removed.
  const fs::path parent = folder.parent_path();
  const auto real = base::find_real_file(parent), root = base::find_real_file(models_directory);
  const bool is_inside = real && root && (real->path == root->path || real->path.parent_path() == root->path);
  if (!is_inside || !folder.has_filename() || folder.filename() == "." || folder.filename() == "..")
    throw make_error(ErrorCode::invalid_argument, folder.string(), " is no model of the models directory ",
                     models_directory.string(), "; remove it yourself");
  Removal removal;
  add(removal, folder);
  return removal;
}

Removal plan_removal(const CachedRepo& repo, const std::vector<std::string>& commits) {
  if (is_link(repo.folder()))
    throw make_error(ErrorCode::invalid_argument, repo.folder().string(),
                     " is a link: remove it and what it leads to yourself");
  Removal removal;
  std::vector<std::string> others;
  for (const CachedRevision& each : repo.revisions()) {
    if (std::ranges::find(commits, each.commit) == commits.end()) {
      others.push_back(each.commit);
    } else {
      add_revision(repo, each, removal);
    }
  }
  const bool is_whole = others.empty();
  const std::vector<std::string> kept = used_blobs(repo, others);
  for (const std::string& blob : is_whole ? names_in(repo.blobs()) : used_blobs(repo, commits)) {
    if (!std::ranges::binary_search(kept, blob)) add_blob(repo, blob, removal);
  }
  if (!is_whole) return removal;
  removal.entries.push_back(repo.folder());
  removal.bytes = bytes_on_disk(repo.folder());  // those of the other entries are among them
  return removal;
}

void carry_out(const Removal& removal) {
  std::vector<std::unique_ptr<base::FileLock>> held;
  for (const fs::path& lock : removal.locks) {
    std::error_code ignored;
    if (!fs::exists(lock, ignored)) continue;  // nobody has ever taken it
    held.push_back(base::FileLock::try_lock(lock));
    const bool is_free = held.back() != nullptr;
    if (held.size() > kMostHeld) held.pop_back();
    if (!is_free)
      throw make_error(ErrorCode::unavailable, "another process is writing a file of the model (it holds ",
                       lock.string(), "); try again when it has ended");
  }
  for (const fs::path& entry : removal.entries) remove_entry(entry);
}

}  // namespace alate::folders
