#include "apps/alate/models/stored_models.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"

namespace alate::app {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> existing_models_directory(const CommonOptions& options) {
  try {
    return models_directory(options);
  } catch (const Error&) {
    return std::nullopt;  // without a home folder there is none
  }
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::weakly_canonical(path, error).lexically_relative(fs::weakly_canonical(folder, error));
  return !error && !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::string_view to_string(ModelPlace place) {
  switch (place) {
    case ModelPlace::builtin: return "builtin";
    case ModelPlace::models_directory: return "models directory";
    case ModelPlace::hub_cache: return "hub cache";
    case ModelPlace::path: return "path";
  }
  return "path";
}

std::vector<StoredModel> stored_models(const CommonOptions& options) {
  std::vector<StoredModel> models;
  for (const std::string& name : folders::list_builtin_models()) {
    try {
      models.push_back({name, folders::resolve_builtin_model(name), ModelPlace::builtin});
    } catch (const Error&) {
      continue;  // it has gone since it was listed
    }
  }
  std::set<std::string> named;
  if (const auto directory = existing_models_directory(options)) {
    for (std::string& name : folders::list_models(*directory)) {
      if (!folders::is_model_name(name)) continue;
      models.push_back({name, *directory / fs::path(name), ModelPlace::models_directory});
      named.insert(std::move(name));
    }
  }
  if (const auto cache = folders::user_hub_cache()) {
    for (folders::HubModel& model : folders::list_hub_models(*cache)) {
      if (!named.contains(model.id))
        models.push_back({std::move(model.id), std::move(model.folder), ModelPlace::hub_cache});
    }
  }
  return models;
}

StoredModel stored_model_at(const CommonOptions& options, const std::string& reference, const fs::path& path) {
  StoredModel model{.name = shortest_reference(options, reference), .folder = path, .place = ModelPlace::path};
  std::vector<fs::path> builtin = folders::builtin_folders();
  if (const auto fetched = folders::fetched_builtin_folder()) builtin.push_back(*fetched);
  const auto directory = existing_models_directory(options);
  const auto cache = folders::user_hub_cache();
  if (std::ranges::any_of(builtin, [&](const fs::path& each) { return is_inside(path, each); })) {
    model.place = ModelPlace::builtin;
  } else if (directory && (is_inside(path, *directory) || is_inside(path.parent_path(), *directory))) {
    model.place = ModelPlace::models_directory;                 // also where the model's own folder is a link
  } else if (cache && is_inside(path.parent_path(), *cache)) {  // its own links lead into the blobs
    model.place = ModelPlace::hub_cache;
  }
  return model;
}

}  // namespace alate::app
