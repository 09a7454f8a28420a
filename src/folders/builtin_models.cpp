#include "folders/builtin_models.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/os/environment.h"
#include "base/os/program_path.h"
#include "folders/model_reference.h"
#include "folders/model_variants.h"
#include "folders/packaged_models.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "ALATE_BUILTIN_MODELS";

std::string list_of(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + part;
  return list;
}

// PREFIX/share for PREFIX/include/alate/NAME.h; nothing for a path that depends on the current folder.
std::optional<fs::path> data_folder_beside(const fs::path& installed_header) {
  if (!installed_header.is_absolute()) return std::nullopt;
  const fs::path include = installed_header.lexically_normal().parent_path().parent_path();
  return include.parent_path() / "share";
}

// Those of builtin_folders, and the one with what was fetched, if there is a cache folder.
std::vector<fs::path> all_folders(const fs::path& installed_header) {
  std::vector<fs::path> folders = builtin_folders(installed_header);
  if (auto fetched = fetched_builtin_folder()) folders.push_back(*std::move(fetched));
  return folders;
}

// "; `alate pull builtin:smollm2` fetches that (…)" for each that is not there.
std::string what_may_be_fetched(const std::vector<std::string>& there) {
  std::string text;
  for (const PackagedModel& model : packaged_models()) {
    if (model.reference.starts_with(kBuiltinPrefix) && std::ranges::find(there, model.reference) == there.end())
      text += "; " + how_to_fetch(model);
  }
  return text;
}

Error no_such_builtin(std::string_view name, const fs::path& installed_header) {
  if (const PackagedModel* model = find_packaged_model(std::string(kBuiltinPrefix) + std::string(name)))
    return make_error(ErrorCode::not_found, model->reference, " has not been fetched yet: ", how_to_fetch(*model));
  std::vector<std::string> there = list_builtin_models(installed_header);
  if (!there.empty())
    return make_error(ErrorCode::not_found, "there is no built-in model ", formats::quoted_name(name), "; there is ",
                      list_of(there), what_may_be_fetched(there));
  std::vector<std::string> folders;
  for (const fs::path& folder : builtin_folders(installed_header)) folders.push_back(folder.string());
  return make_error(ErrorCode::not_found, "the built-in model ", formats::quoted_name(name), " is not here: looked in ",
                    folders.empty() ? "no folder" : list_of(folders),
                    "; install the program with its folder share, or let ", kVariable,
                    " name a folder with the model's folder in it");
}

}  // namespace

std::vector<fs::path> builtin_folders(const fs::path& installed_header) {
  if (const auto named = base::environment(kVariable)) return {*named};
  std::vector<fs::path> folders = base::shared_data_folders();
  if (auto beside = data_folder_beside(installed_header)) folders.push_back(std::move(*beside));
  for (fs::path& folder : folders) folder = folder / "alate" / "models";
  return folders;
}

std::optional<fs::path> fetched_builtin_folder() {
  try {
    return base::cache_directory() / "builtin";
  } catch (const Error&) {
    return std::nullopt;  // without a home folder nothing was fetched
  }
}

std::vector<std::string> list_builtin_models(const fs::path& installed_header) {
  std::vector<std::string> names;
  for (const fs::path& folder : all_folders(installed_header)) {
    for (const std::string& name : list_models(folder)) {
      if (name.find('/') == std::string::npos) names.push_back(std::string(kBuiltinPrefix) + name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

fs::path resolve_builtin_model(std::string_view reference, const fs::path& installed_header) {
  std::string_view given = reference;
  if (given.starts_with(kBuiltinPrefix)) given.remove_prefix(kBuiltinPrefix.size());
  const auto [name, variant] = split_variant(given);
  if (is_model_name(name) && name.find('/') == std::string_view::npos) {
    for (const fs::path& parent : all_folders(installed_header)) {
      const fs::path folder = parent / fs::path(name);
      if (is_model_folder(folder)) return variant.empty() ? folder : resolve_variant(folder, variant, name);
    }
  }
  throw no_such_builtin(given, installed_header);
}

}  // namespace alate::folders
