// The layout of huggingface_hub's cache on disk, which is shared with that package:
//   CACHE/models--OWNER--NAME/blobs/ETAG             the bytes of a file, named after its digest
//                             snapshots/COMMIT/FILE  a relative link to its blob; without links, the file itself
//                             refs/REVISION          the commit of a branch or tag
//   CACHE/.locks/models--OWNER--NAME/ETAG.lock
// Everything in a cache is untrusted: names are checked against allow-lists, and links must stay inside the cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

inline constexpr std::string_view kMainRevision = "main";

/// $HF_HOME, else $XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface. As in huggingface_hub, values may begin with
/// ~ and contain $NAME or ${NAME}. Throws not_found where no home folder is known.
std::filesystem::path huggingface_home();
/// $HF_HUB_CACHE, else $HUGGINGFACE_HUB_CACHE, else huggingface_home()/hub. The folder need not exist.
std::filesystem::path huggingface_cache();

/// Whether the hub could have a repository of this name: "name" or "owner/name" of ASCII letters, digits and -_. , at
/// most 96 a part, without "--", "..", a trailing ".git", or - or . at the ends of a part.
bool is_repo_id(std::string_view id);
/// Whether it can name a branch, a tag or a commit: letters, digits and -_.+/ , under git's rules for names.
bool is_revision(std::string_view revision);
/// 40 lower-case hexadecimal digits.
bool is_commit_hash(std::string_view text);
/// Whether a blob may have this name: letters, digits and -_. , at most 128, not beginning with a dot.
bool is_blob_name(std::string_view name);

/// "models--owner--name". REQUIRES: is_repo_id(id).
std::string repo_folder_name(std::string_view id);
/// The id; nothing for any other folder.
std::optional<std::string> repo_id_of(std::string_view folder_name);
/// The ids of the models in a cache, sorted. Empty if the folder does not exist.
std::vector<std::string> cached_repos(const std::filesystem::path& cache);

struct CachedRevision {
  std::string commit;
  std::vector<std::string> refs;  // branches and tags that name it
};

struct CachedFile {
  std::string name;            // relative to the snapshot, with /
  std::string blob;            // the name of its blob; empty if the file is in the snapshot itself
  std::filesystem::path path;  // where the bytes are, without links; empty if there is a problem
  std::uint64_t bytes = 0;
  std::string problem = {};  // why it must not be opened: "leads to a missing blob"
};

/// A repository's folder in a cache, which need not exist. Immutable; safe to share among threads.
class CachedRepo {
 public:
  /// Throws invalid_argument unless is_repo_id(id).
  CachedRepo(std::filesystem::path cache, std::string id);

  const std::string& id() const { return id_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path blobs() const { return folder_ / "blobs"; }
  std::filesystem::path snapshots() const { return folder_ / "snapshots"; }
  std::filesystem::path refs() const { return folder_ / "refs"; }
  /// REQUIRES: is_blob_name(name).
  std::filesystem::path blob(std::string_view name) const { return blobs() / name; }
  std::filesystem::path lock(std::string_view blob_name) const;
  /// REQUIRES: is_commit_hash(commit).
  std::filesystem::path snapshot(std::string_view commit) const { return snapshots() / commit; }
  /// REQUIRES: is_revision(revision).
  std::filesystem::path ref(std::string_view revision) const { return refs() / revision; }

  /// The commit of a branch, a tag or a commit's hash; nothing if the cache does not know it. Throws invalid_argument
  /// unless is_revision(revision), and corrupt if the ref has no commit's hash.
  std::optional<std::string> commit_of(std::string_view revision) const;
  /// The folder of the revision's files; nothing if it is not there. Throws as commit_of.
  std::optional<std::filesystem::path> find_snapshot(std::string_view revision = kMainRevision) const;
  /// The commits with a snapshot, sorted; refs that cannot be read are left out.
  std::vector<CachedRevision> revisions() const;
  /// The files of a snapshot, sorted by name; none if there is no such snapshot. Throws resource_exhausted for more
  /// than 100,000 entries or very deep folders. REQUIRES: is_commit_hash(commit).
  std::vector<CachedFile> files(std::string_view commit) const;

 private:
  std::filesystem::path cache_, folder_;
  std::string id_;
};

}  // namespace alate::folders
