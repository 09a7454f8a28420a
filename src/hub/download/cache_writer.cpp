#include "hub/download/cache_writer.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <vector>

#include "alate/error.h"
#include "base/byte_text.h"
#include "base/files/atomic_file.h"
#include "base/files/real_file.h"
#include "base/files/write_error.h"
#include "base/sha256.h"
#include "hub/download/wait_for_lock.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

// The Cache Directory Tagging Specification.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file is a cache directory tag: programs that make backups may leave the folder out.\n"
    "# https://bford.info/cachedir/\n";

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) throw base::file_write_error(folder, error.value());
}

// A link on the way from the repository's folder could lead anywhere.
void require_in_place(const folders::CachedRepo& repo, const fs::path& folder) {
  const auto real = base::find_real_file(folder), root = base::find_real_file(repo.folder());
  if (!real || !root || real->path != root->path / folder.lexically_relative(repo.folder()))
    throw make_error(ErrorCode::corrupt, folder.string(), " is a link that leads out of the cache; remove it");
}

void write_text(const fs::path& path, std::string_view text) {
  base::remove_abandoned_entries(path, base::EntryKind::file);
  base::write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace

void CacheWriter::make_folders(const fs::path& cache) const {
  for (const fs::path& folder : {cache, repo_.blobs(), repo_.snapshot(commit_), repo_.lock("x").parent_path()})
    make_folder(folder);
  for (const fs::path& folder : {repo_.blobs(), repo_.snapshot(commit_)}) require_in_place(repo_, folder);
  const fs::path tag = cache / "CACHEDIR.TAG";
  std::error_code ignored;
  if (!fs::exists(tag, ignored)) write_text(tag, kCacheTag);
}

std::unique_ptr<base::FileLock> CacheWriter::lock(std::string_view blob, const std::stop_token& stop) const {
  return wait_for_lock(repo_.lock(blob), stop);
}

bool CacheWriter::has_blob(std::string_view blob, std::uint64_t bytes) const {
  std::error_code error;
  const fs::path path = repo_.blob(blob);
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == bytes && !error;
}

bool CacheWriter::has_file(const std::string& name, std::string_view blob, std::uint64_t bytes) const {
  std::error_code error;
  const fs::path path = repo_.snapshot(commit_) / name;
  const fs::path target = fs::read_symlink(path, error);
  if (!error)
    return target.filename() == blob && has_blob(blob, bytes) && fs::equivalent(path, repo_.blob(blob), error);
  return fs::is_regular_file(fs::symlink_status(path, error)) && fs::file_size(path, error) == bytes;
}

// Other programs that know "<blob>.incomplete" take its length for what is there.
fs::path CacheWriter::part(std::string_view blob) const {
  return repo_.blobs() / (std::string(blob) + ".alate.incomplete");
}

void CacheWriter::link(const std::string& name, std::string_view blob) const {
  const fs::path snapshot = repo_.snapshot(commit_), place = snapshot / name, folder = place.parent_path();
  make_folder(folder);
  require_in_place(repo_, folder);
  const fs::path target = repo_.blob(blob).lexically_relative(folder);
  std::error_code error;
  fs::create_symlink(target, place, error);
  if (error == std::errc::file_exists) {
    std::error_code unread;
    if (fs::read_symlink(place, unread) == target) return;
    fs::remove(place, unread);
    fs::create_symlink(target, place, error);
  }
  if (error) throw base::file_write_error(place, error.value());
}

void CacheWriter::put_text(const std::string& name, std::string_view text) const {
  const auto bytes = std::as_bytes(std::span(text));
  const std::string blob = base::Sha256().add(bytes).finish();
  if (has_file(name, blob, text.size())) return;
  std::error_code error;
  const std::string old = fs::read_symlink(repo_.snapshot(commit_) / name, error).filename().string();
  if (!has_blob(blob, text.size())) write_text(repo_.blob(blob), text);
  link(name, blob);
  if (error || old == blob || !folders::is_blob_name(old)) return;
  const auto has_old = [&](const folders::CachedRevision& each) {
    const std::vector<folders::CachedFile> files = repo_.files(each.commit);
    return std::ranges::find(files, old, &folders::CachedFile::blob) != files.end();
  };
  if (std::ranges::none_of(repo_.revisions(), has_old)) fs::remove(repo_.blob(old), error);
}

void CacheWriter::record_ref(std::string_view revision) const {
  if (revision == commit_) return;
  try {
    if (repo_.commit_of(revision) == commit_) return;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
  }
  const fs::path path = repo_.ref(revision);
  make_folder(path.parent_path());
  require_in_place(repo_, path.parent_path());
  write_text(path, commit_);
}

void require_room(const fs::path& folder, std::uint64_t bytes, const std::string& what, std::string_view setting) {
  fs::path at = folder;
  std::error_code error;
  while (!fs::exists(at, error) && at.has_parent_path() && at != at.parent_path()) at = at.parent_path();
  const fs::space_info space = fs::space(at, error);
  if (error || space.available == static_cast<std::uintmax_t>(-1) || space.available >= bytes) return;
  throw make_error(ErrorCode::resource_exhausted, what, " needs ", base::byte_text(bytes), ", and ", folder.string(),
                   " has room for ", base::byte_text(space.available),
                   ": make room, or name a folder on another disk with ", setting);
}

}  // namespace alate::hub
