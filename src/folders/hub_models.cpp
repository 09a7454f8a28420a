#include "folders/hub_models.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "folders/cache_layout.h"
#include "folders/model_reference.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

// The main revision's snapshot, or the only one; nothing where there are none or several.
std::optional<fs::path> usual_snapshot(const CachedRepo& repo) {
  if (auto main = repo.find_snapshot()) return main;
  const std::vector<CachedRevision> revisions = repo.revisions();
  return revisions.size() == 1 ? std::optional(repo.snapshot(revisions.front().commit)) : std::nullopt;
}

std::string listed(const std::vector<CachedRevision>& revisions) {
  std::string text;
  for (const CachedRevision& each : revisions)
    text += (text.empty() ? "" : ", ") + (each.refs.empty() ? each.commit : each.refs.front());
  return text;
}

std::optional<fs::path> find_in_repo(const CachedRepo& repo, const std::string& revision) {
  if (!revision.empty()) return repo.find_snapshot(revision);
  if (auto found = usual_snapshot(repo)) return found;
  const std::vector<CachedRevision> revisions = repo.revisions();
  if (revisions.empty()) return std::nullopt;
  throw make_error(ErrorCode::invalid_argument, "of the model ", formats::quoted_name(repo.id()),
                   " several revisions are there, and none is main; name one after @: ", listed(revisions));
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view text) {
  const std::size_t at = text.find('@');
  HubName name{.id = std::string(text.substr(0, at)), .revision = {}};
  if (at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
  }
  return is_repo_id(name.id) ? std::optional(std::move(name)) : std::nullopt;
}

std::optional<fs::path> user_hub_cache() {
  try {
    return huggingface_cache();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<HubModel> list_hub_models(const fs::path& cache) {
  std::vector<HubModel> models;
  for (std::string& id : cached_repos(cache)) {
    try {
      const std::optional<fs::path> folder = usual_snapshot(CachedRepo(cache, id));
      if (folder && is_model_folder(*folder)) models.push_back({std::move(id), *folder});
    } catch (const Error&) {
      continue;  // a broken ref: naming the model reports it
    }
  }
  return models;
}

std::optional<fs::path> find_hub_model(const HubName& name, const fs::path& cache) {
  if (auto found = find_in_repo(CachedRepo(cache, name.id), name.revision)) return found;
  if (name.id.find('/') != std::string::npos) return std::nullopt;
  std::vector<std::string> owned;
  for (std::string& id : cached_repos(cache)) {
    if (id.ends_with("/" + name.id)) owned.push_back(std::move(id));
  }
  if (owned.empty()) return std::nullopt;
  if (owned.size() == 1) return find_in_repo(CachedRepo(cache, owned.front()), name.revision);
  std::string all;
  for (const std::string& id : owned) all += (all.empty() ? "" : ", ") + id;
  throw make_error(ErrorCode::invalid_argument, "several models are called ", formats::quoted_name(name.id), ": ", all,
                   "; name one with its owner");
}

std::optional<std::string> hub_name_of(const fs::path& snapshot) {
  const fs::path folder = snapshot.has_filename() ? snapshot : snapshot.parent_path();
  if (folder.parent_path().filename() != "snapshots") return std::nullopt;
  return repo_id_of(folder.parent_path().parent_path().filename().string());
}

}  // namespace alate::folders
