#include "alate/find_model.h"

#include <algorithm>
#include <optional>

#include "alate/error.h"
#include "base/os/environment.h"
#include "hub/builtin_models.h"
#include "hub/model_reference.h"

namespace alate {
namespace {

std::filesystem::path models_directory_of(const FindOptions& options) {
  if (!options.models_dir.empty()) return options.models_dir;
  if (const auto named = base::environment("ALATE_MODELS_DIR")) return *named;
  return base::cache_directory() / "models";
}

}  // namespace

std::filesystem::path find_model(std::string_view reference, const FindOptions& options) {
  // Before the models directory is known: these need neither it nor a home folder.
  if (auto found = hub::resolve_path_or_builtin(reference, options.installed_header)) return *found;
  return hub::resolve_model(reference, models_directory_of(options), options.installed_header);
}

std::vector<std::string> list_models(const FindOptions& options) {
  std::vector<std::string> names = hub::list_builtin_models(options.installed_header);
  std::vector<std::string> own = hub::list_models(models_directory_of(options));
  names.insert(names.end(), own.begin(), own.end());
  std::ranges::sort(names);
  return names;
}

}  // namespace alate
