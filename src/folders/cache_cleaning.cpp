#include "folders/cache_cleaning.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/file_lock.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;
using Time = fs::file_time_type;

constexpr std::string_view kIncomplete = ".incomplete";

Time last_change(const fs::path& path) {
  std::error_code error;
  const Time time = fs::last_write_time(path, error);
  return error ? Time::max() : time;  // never old
}

bool is_free(const fs::path& lock) {
  std::error_code ignored;
  return !fs::exists(lock, ignored) || base::FileLock::try_lock(lock) != nullptr;
}

class RepoCleaning {
 public:
  RepoCleaning(CachedRepo repo, Time limit) : repo_(std::move(repo)), limit_(limit) {}

  std::vector<Cleaning> plan() {
    add_unnamed_revisions();
    add_blobs();
    return std::move(found_);
  }

 private:
  void add(CleaningReason reason, Removal removal) { found_.push_back({reason, repo_.id(), std::move(removal)}); }

  void add_unnamed_revisions() {
    const std::vector<CachedRevision> revisions = repo_.revisions();
    for (const CachedRevision& each : revisions) {
      const bool is_old = each.refs.empty() && last_change(repo_.snapshot(each.commit)) < limit_;
      if (!is_old || revisions.size() == 1) {
        kept_.push_back(each.commit);
        continue;
      }
      Removal removal;
      removal.entries.push_back(repo_.snapshot(each.commit));
      removal.bytes = bytes_on_disk(repo_.snapshot(each.commit));
      add(CleaningReason::unnamed_revision, std::move(removal));
    }
  }

  void add_blobs() {
    std::error_code error;
    if (fs::symlink_status(repo_.blobs(), error).type() != fs::file_type::directory) return;
    const std::vector<std::string> used = used_blobs(repo_, kept_);
    for (fs::directory_iterator entries(repo_.blobs(), error); !error && entries != fs::directory_iterator();
         entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      if (std::ranges::binary_search(used, name)) continue;
      const bool is_incomplete = name.ends_with(kIncomplete);
      // Names of downloads are the blob's, a part that tells them from each other, and the ending.
      const fs::path lock = repo_.lock(is_incomplete ? name.substr(0, name.find('.')) : name);
      std::error_code ignored;
      const bool is_link = entries->symlink_status(ignored).type() == fs::file_type::symlink;
      if ((!is_link && last_change(entries->path()) >= limit_) || !is_free(lock)) continue;
      Removal removal{.entries = {entries->path()}, .locks = {lock}, .bytes = bytes_on_disk(entries->path())};
      add(is_incomplete ? CleaningReason::incomplete : CleaningReason::unlinked_blob, std::move(removal));
    }
  }

  CachedRepo repo_;
  Time limit_;
  std::vector<std::string> kept_;  // commits
  std::vector<Cleaning> found_;
};

// A revision that may be removed for its size.
struct Candidate {
  std::size_t repo;  // index
  std::string commit;
  Time fetched;
};

Time fetched_at(const CachedRepo& repo, const std::string& commit) {
  Time latest = Time::min();
  std::error_code error;
  if (const Time time = fs::last_write_time(repo.snapshot(commit), error); !error) latest = time;
  for (const CachedFile& file : repo.files(commit)) {
    const Time time = file.path.empty() ? latest : fs::last_write_time(file.path, error);
    if (!error) latest = std::max(latest, time);
  }
  return latest;
}

// Chooses whole revisions, those that were fetched longest ago first, until no more than `most` bytes are left of the
// `total` that the repositories take.
std::vector<Cleaning> make_room(const std::vector<CachedRepo>& repos, std::uint64_t total, std::uint64_t most) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < repos.size(); ++i) {
    for (CachedRevision& each : repos[i].revisions()) {
      const Time fetched = fetched_at(repos[i], each.commit);
      candidates.push_back({i, std::move(each.commit), fetched});
    }
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::fetched);
  std::map<std::size_t, std::vector<std::string>> chosen;
  std::map<std::size_t, Removal> removals;
  for (const Candidate& each : candidates) {
    if (total <= most) break;
    chosen[each.repo].push_back(each.commit);
    Removal removal = plan_removal(repos[each.repo], chosen[each.repo]);
    const std::uint64_t more = removal.bytes - removals[each.repo].bytes;
    total -= std::min(total, more);
    removals[each.repo] = std::move(removal);
  }
  std::vector<Cleaning> found;
  for (auto& [repo, removal] : removals) found.push_back({CleaningReason::size, repos[repo].id(), std::move(removal)});
  return found;
}

constexpr std::array<std::string_view, 4> kReasons = {"incomplete download", "blob of no revision",
                                                      "revision without a name", "over the size"};

}  // namespace

std::string_view to_string(CleaningReason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }

std::vector<Cleaning> plan_cleaning(const fs::path& cache, const CleaningOptions& options) {
  const Time limit = Time::clock::now() - options.older_than;
  std::vector<Cleaning> found;
  std::vector<CachedRepo> repos;
  std::uint64_t total = 0, freed = 0;
  for (std::string& id : cached_repos(cache)) {
    CachedRepo repo(cache, std::move(id));
    std::error_code ignored;
    if (fs::is_symlink(repo.folder(), ignored)) continue;
    for (Cleaning& each : RepoCleaning(repo, limit).plan()) {
      freed += each.removal.bytes;
      found.push_back(std::move(each));
    }
    total += bytes_on_disk(repo.folder());
    repos.push_back(std::move(repo));
  }
  if (!options.max_bytes) return found;
  for (Cleaning& each : make_room(repos, total - std::min(total, freed), *options.max_bytes))
    found.push_back(std::move(each));
  return found;
}

}  // namespace alate::folders
