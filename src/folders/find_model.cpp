#include "alate/find_model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "folders/models_directory.h"

namespace alate {
namespace {

// Empty: there is none.
std::filesystem::path models_directory_of(const FindOptions& options) {
  try {
    return folders::models_directory(options.models_dir);
  } catch (const Error&) {
    return {};  // without a home folder; a model may still be in huggingface_hub's cache
  }
}

std::optional<std::filesystem::path> hub_cache_of(const FindOptions& options) {
  return options.hub_cache.empty() ? folders::user_hub_cache() : options.hub_cache;
}

}  // namespace

std::filesystem::path find_model(std::string_view reference, const FindOptions& options) {
  // Before the models directory is known: these need neither it nor a home folder.
  if (auto found = folders::resolve_path_or_builtin(reference, options.installed_header)) return *found;
  return folders::resolve_model(reference, {.models_directory = models_directory_of(options),
                                            .hub_cache = hub_cache_of(options),
                                            .installed_header = options.installed_header});
}

std::vector<std::string> list_models(const FindOptions& options) {
  std::vector<std::string> names = folders::list_builtin_models(options.installed_header);
  std::vector<std::string> own = folders::list_models(models_directory_of(options));
  names.insert(names.end(), own.begin(), own.end());
  if (const auto cache = hub_cache_of(options)) {
    for (folders::HubModel& model : folders::list_hub_models(*cache)) names.push_back(std::move(model.id));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace alate
