#include "folders/cache_layout.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/mapped_file.h"
#include "base/files/real_file.h"
#include "base/os/environment.h"
#include "base/split_text.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--", kSeparator = "--";
constexpr std::size_t kMaxIdPart = 96, kMaxRevision = 200, kMaxBlobName = 128, kMaxRefBytes = 1024;
constexpr std::size_t kMaxEntries = 100'000;
constexpr int kMaxDepth = 16;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool consists_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) { return is_word(c) || others.find(c) != std::string_view::npos; });
}

bool is_id_part(std::string_view part) {
  return !part.empty() && part.size() <= kMaxIdPart && consists_of(part, "-.") && is_word(part.front()) &&
         is_word(part.back());
}

std::string home_folder() {
  for (const char* name : {"HOME", "USERPROFILE"}) {
    if (auto home = base::environment(name)) return *std::move(home);
  }
  throw make_error(ErrorCode::not_found, "there is no folder for huggingface_hub's cache: set HF_HOME, or HOME");
}

// The name and the text after a variable reference at the start of `text`; an empty name if it is none.
std::pair<std::string, std::string_view> take_variable(std::string_view text) {
  const bool has_braces = text.size() > 1 && text[1] == '{';
  const std::string_view rest = text.substr(has_braces ? 2 : 1);
  const auto length = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin());
  if (has_braces && (length == rest.size() || rest[length] != '}')) return {};
  return {std::string(rest.substr(0, length)), rest.substr(length + (has_braces ? 1 : 0))};
}

// Python's os.path.expanduser, then os.path.expandvars: unset variables stay as they are written.
fs::path expanded(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  if (rest == "~" || rest.starts_with("~/")) {
    out = home_folder();
    rest.remove_prefix(1);
  }
  while (!rest.empty()) {
    const std::size_t dollar = std::min(rest.find('$'), rest.size());
    out += rest.substr(0, dollar);
    rest.remove_prefix(dollar);
    if (rest.empty()) break;
    const auto [name, after] = take_variable(rest);
    const auto value = name.empty() ? std::nullopt : base::environment(name.c_str());
    out += value ? *value : std::string(rest.substr(0, name.empty() ? 1 : rest.size() - after.size()));
    rest = name.empty() ? rest.substr(1) : after;
  }
  return out;
}

// Calls `visit` with entry and name, relative to `root` with /, for each entry below `root` that is no folder. Links to
// folders are not entered.
template <typename Visit>
void visit_files(const fs::path& root, const fs::path& folder, const std::string& prefix, int depth, std::size_t& count,
                 const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    if (++count > kMaxEntries || depth > kMaxDepth)
      throw make_error(ErrorCode::resource_exhausted, root.string(), " has more than ", kMaxEntries,
                       " entries, or folders too deep in each other: it is no model's");
    std::error_code ignored;
    const std::string name = prefix + entries->path().filename().string();
    const bool is_folder = entries->symlink_status(ignored).type() == fs::file_type::directory;
    if (is_folder) {
      visit_files(root, entries->path(), name + "/", depth + 1, count, visit);
    } else {
      visit(*entries, name);
    }
  }
}

std::vector<std::string> folder_names(const fs::path& folder, bool (*accept)(std::string_view)) {
  std::vector<std::string> names;
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator entries(folder, error);
       !error && entries != fs::directory_iterator() && ++count <= kMaxEntries; entries.increment(error)) {
    std::error_code ignored;
    std::string name = entries->path().filename().string();
    if (accept(name) && entries->is_directory(ignored)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

// Whether a folder inside of `root` is there and no link leads elsewhere on the way to it from `root`.
bool is_own_folder(const fs::path& root, const fs::path& folder) {
  const auto real_root = base::find_real_file(root), real = base::find_real_file(folder);
  std::error_code ignored;
  return real_root && real && real->path == real_root->path / folder.lexically_relative(root) &&
         fs::is_directory(real->path, ignored);
}

// The blob that a link of a snapshot names; empty for any other entry.
std::string blob_named_by(const fs::directory_entry& entry) {
  std::error_code error;
  const fs::path target = fs::read_symlink(entry.path(), error);
  if (error || target.parent_path().filename() != "blobs") return {};
  std::string name = target.filename().string();
  return is_blob_name(name) ? name : std::string();
}

CachedFile describe(const base::ContainedFiles& contained, const fs::directory_entry& entry, const std::string& name) {
  CachedFile file{.name = name, .blob = blob_named_by(entry), .path = {}, .bytes = 0};
  const std::optional<base::RealFile> real = base::find_real_file(entry.path());
  if (!real) {
    file.problem = "leads to a missing blob";
    return file;
  }
  try {
    contained.require_file(entry.path(), *real);
    file.path = real->path;
    std::error_code error;
    file.bytes = fs::file_size(real->path, error);
    if (error) file.problem = "cannot be read: " + error.message();
  } catch (const Error&) {
    file.problem = real->is_regular ? "is a link that leads out of the cache" : "is no regular file";
  }
  if (!file.problem.empty()) file.path.clear();
  return file;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return std::string(end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin));
}

}  // namespace

fs::path huggingface_home() {
  if (const auto home = base::environment("HF_HOME")) return expanded(*home);
  if (const auto cache = base::environment("XDG_CACHE_HOME")) return expanded(*cache) / "huggingface";
  return fs::path(home_folder()) / ".cache" / "huggingface";
}

fs::path huggingface_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto cache = base::environment(name)) return expanded(*cache);
  }
  return huggingface_home() / "hub";
}

bool is_repo_id(std::string_view id) {
  const auto parts = base::split_text(id, '/');
  return parts.size() <= 2 && std::ranges::all_of(parts, is_id_part) && id.find("--") == std::string_view::npos &&
         id.find("..") == std::string_view::npos && !id.ends_with(".git");
}

bool is_revision(std::string_view revision) {
  if (revision.empty() || revision.size() > kMaxRevision || !consists_of(revision, "-.+/")) return false;
  if (revision.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(base::split_text(revision, '/'), [](std::string_view part) {
    return !part.empty() && !part.starts_with('.') && !part.ends_with('.') && !part.ends_with(".lock");
  });
}

bool is_commit_hash(std::string_view text) {
  return text.size() == 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_blob_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxBlobName && !name.starts_with('.') && consists_of(name, "-.");
}

std::string repo_folder_name(std::string_view id) {
  std::string name(kPrefix);
  for (const char c : id) c == '/' ? name.append(kSeparator) : name.append(1, c);
  return name;
}

std::optional<std::string> repo_id_of(std::string_view folder_name) {
  if (!folder_name.starts_with(kPrefix) || folder_name.find('/') != std::string_view::npos) return std::nullopt;
  std::string id(folder_name.substr(kPrefix.size()));
  if (const std::size_t separator = id.find(kSeparator); separator != std::string::npos)
    id.replace(separator, kSeparator.size(), "/");
  return is_repo_id(id) ? std::optional(std::move(id)) : std::nullopt;
}

std::vector<std::string> cached_repos(const fs::path& cache) {
  std::vector<std::string> ids;
  for (const std::string& name :
       folder_names(cache, [](std::string_view each) { return repo_id_of(each).has_value(); }))
    ids.push_back(*repo_id_of(name));
  std::ranges::sort(ids);
  return ids;
}

CachedRepo::CachedRepo(fs::path cache, std::string id) : cache_(std::move(cache)), id_(std::move(id)) {
  if (!is_repo_id(id_))
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(id_),
                     " is no name of a model on a hub: it is \"owner/name\" of letters, digits, -, _ and .");
  folder_ = cache_ / repo_folder_name(id_);
}

fs::path CachedRepo::lock(std::string_view blob_name) const {
  return cache_ / ".locks" / repo_folder_name(id_) / (std::string(blob_name) + ".lock");
}

std::optional<std::string> CachedRepo::commit_of(std::string_view revision) const {
  if (!is_revision(revision))
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(revision),
                     " is no name of a revision: give a branch, a tag or a commit");
  if (is_commit_hash(revision)) return std::string(revision);
  const fs::path file = ref(revision);
  std::error_code ignored;
  if (!is_own_folder(folder_, refs()) || !fs::exists(file, ignored) || fs::is_directory(file, ignored))
    return std::nullopt;
  std::string commit = trimmed(base::read_contained_file(refs(), revision, kMaxRefBytes));
  if (!is_commit_hash(commit))
    throw make_error(ErrorCode::corrupt, file.string(), " does not have the hash of a commit; remove that file");
  return commit;
}

std::optional<fs::path> CachedRepo::find_snapshot(std::string_view revision) const {
  const std::optional<std::string> commit = commit_of(revision);
  if (!commit || !is_own_folder(folder_, snapshot(*commit))) return std::nullopt;
  return snapshot(*commit);
}

std::vector<CachedRevision> CachedRepo::revisions() const {
  std::vector<CachedRevision> out;
  for (std::string& commit : folder_names(snapshots(), is_commit_hash)) {
    if (is_own_folder(folder_, snapshot(commit))) out.push_back({std::move(commit), {}});
  }
  if (!is_own_folder(folder_, refs())) return out;
  std::size_t count = 0;
  visit_files(refs(), refs(), "", 0, count, [&](const fs::directory_entry&, const std::string& name) {
    std::optional<std::string> commit;
    try {
      if (is_revision(name)) commit = commit_of(name);
    } catch (const Error&) {
      return;
    }
    const auto found = std::ranges::find(out, commit.value_or(""), &CachedRevision::commit);
    if (found != out.end()) found->refs.push_back(name);
  });
  for (CachedRevision& each : out) std::ranges::sort(each.refs);
  return out;
}

std::vector<CachedFile> CachedRepo::files(std::string_view commit) const {
  const fs::path root = snapshot(commit);
  std::vector<CachedFile> out;
  if (!is_own_folder(folder_, root)) return out;
  const base::ContainedFiles contained(root);
  std::size_t count = 0;
  visit_files(root, root, "", 0, count, [&](const fs::directory_entry& entry, const std::string& name) {
    out.push_back(describe(contained, entry, name));
  });
  std::ranges::sort(out, {}, &CachedFile::name);
  return out;
}

}  // namespace alate::folders
