#include "base/files/contained_files.h"

#include <algorithm>
#include <optional>

#include "alate/error.h"
#include "base/split_text.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte != 0x7F && std::string_view(R"(/\:*?"<>|)").find(c) == std::string_view::npos;
}

bool is_below(const fs::path& path, const fs::path& root) {
  const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return in_root == root.end();
}

// huggingface_hub marks the folder beside the repositories where they share blobs.
constexpr std::string_view kSharedBlobsMark = ".huggingface-shared-blobs";

// The repository whose snapshot the folder is or lies in; empty if it is not in a snapshot.
fs::path repository_of(const fs::path& folder) {
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    const fs::path parent = at.parent_path();
    if (parent.filename() == "snapshots") return parent.parent_path();
  }
  return {};
}

// Whether an entry is really there: a link in its place could lead anywhere.
bool is_in_place(const fs::path& path) {
  const std::optional<RealFile> found = find_real_file(path);
  return found && found->path == path;
}

}  // namespace

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNamePartBytes && name != "." && name != ".." &&
         std::ranges::all_of(name, is_name_byte);
}

bool is_plain_relative_path(std::string_view path) {
  if (path.size() > kMaxRelativePathBytes) return false;
  bool has_name = false;
  for (const std::string_view part : split_text(path, '/')) {
    if (part == ".") continue;
    if (!is_plain_file_name(part)) return false;
    has_name = true;
  }
  return has_name;
}

ContainedFiles::ContainedFiles(const fs::path& folder) {
  std::optional<RealFile> real = find_real_file(folder.empty() ? fs::path(".") : folder);
  if (!real) return;
  const fs::path repository = repository_of(real->path);
  roots_.push_back(std::move(real->path));
  if (repository.empty()) return;
  if (fs::path blobs = repository / "blobs"; is_in_place(blobs)) roots_.push_back(std::move(blobs));
  if (fs::path shared = repository.parent_path() / "blobs"; is_in_place(shared / kSharedBlobsMark))
    roots_.push_back(std::move(shared));
}

void ContainedFiles::require_inside(const fs::path& path, const RealFile& found) const {
  if (std::ranges::any_of(roots_, [&](const fs::path& root) { return is_below(found.path, root); })) return;
  throw make_error(ErrorCode::corrupt, path.string(),
                   " is a link that leads out of the model's folder; put the file itself into the folder");
}

void ContainedFiles::require_inside(const fs::path& path) const {
  if (const std::optional<RealFile> found = find_real_file(path)) require_inside(path, *found);
}

void ContainedFiles::require_file(const fs::path& path, const RealFile& opened) const {
  require_inside(path, opened);
  if (opened.is_regular) return;
  throw make_error(ErrorCode::corrupt, path.string(),
                   " is no regular file; a model's folder may hold nothing else there");
}

void ContainedFiles::require_file(const fs::path& path) const {
  if (const std::optional<RealFile> found = find_real_file(path)) require_file(path, *found);
}

std::string read_contained_file(const fs::path& folder, std::string_view name, std::size_t max_bytes) {
  const ContainedFiles contained(folder);
  return read_text_file(folder / name, max_bytes, &contained);
}

}  // namespace alate::base
