#include "server/model_names.h"

#include <algorithm>
#include <system_error>

#include "alate/error.h"
#include "formats/json.h"
#include "hub/builtin_models.h"
#include "hub/model_reference.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;
using formats::quoted_name;

constexpr std::string_view kLatest = ":latest";
constexpr std::size_t kMostNamed = 10;

Error no_such_model(std::string_view name) {
  return make_error(ErrorCode::not_found, "there is no model ", quoted_name(name),
                    "; GET /api/models lists what there is");
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNamed) out += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return out;
}

// "owner/name" of a folder that lies in the models directory, by its place there; empty when it does not.
std::string name_inside(const fs::path& folder, const fs::path& directory) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(folder, error);
  if (error) return {};
  const fs::path root = fs::weakly_canonical(directory, error);
  if (error) return {};
  const std::string name = real.lexically_relative(root).generic_string();
  if (name.empty() || name.starts_with('.') || std::ranges::count(name, '/') > 1) return {};
  return name;
}

}  // namespace

ModelNames::ModelNames(const Settings& settings)
    : directory_(settings.models_dir), allow_downloads_(settings.allow_downloads) {
  if (settings.default_model.empty()) return;
  const fs::path folder = hub::resolve_model(settings.default_model, directory_);
  if (!fs::is_directory(folder)) {
    throw make_error(ErrorCode::invalid_argument, "the default model ", quoted_name(settings.default_model),
                     " is a file; give the folder of a model");
  }
  default_ = {name_inside(folder, directory_), folder};
  default_is_inside_ = !default_.name.empty();
  if (default_is_inside_) return;
  const bool is_builtin = settings.default_model.starts_with(hub::kBuiltinPrefix);
  default_.name = is_builtin ? settings.default_model : fs::canonical(folder).filename().string();
}

NamedFolder ModelNames::find_builtin(std::string_view name) {
  try {
    return {std::string(name), hub::resolve_builtin_model(name)};
  } catch (const Error&) {
    throw no_such_model(name);
  }
}

NamedFolder ModelNames::find(std::string_view name) const {
  if (!default_is_inside_ && name == default_.name) return default_;
  if (name.starts_with(hub::kBuiltinPrefix)) return find_builtin(name);
  if (!hub::is_model_name(name)) throw no_such_model(name);
  try {
    const fs::path folder = hub::resolve_model_name(name, directory_);
    return {folder.lexically_relative(directory_).generic_string(), folder};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw no_such_model(name);
  }
}

NamedFolder ModelNames::resolve(std::string_view name) const {
  if (name.empty()) return find(default_name());
  if (name.starts_with("hf:")) {
    throw make_error(ErrorCode::unsupported, "cannot fetch ", quoted_name(name.substr(3)), ": ",
                     allow_downloads_ ? "this version does not download" : "this server does not download",
                     "; GET /api/models lists what there is");
  }
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  const std::size_t prefix = name.starts_with(hub::kBuiltinPrefix) ? hub::kBuiltinPrefix.size() : 0;
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon < prefix) return find(name);
  find(name.substr(0, colon));
  throw make_error(ErrorCode::unsupported, "this version does not read variants of models; leave out the variant ",
                   quoted_name(name.substr(colon + 1)));
}

std::string ModelNames::default_name() const {
  if (!default_.name.empty()) return default_.name;
  std::vector<std::string> names = hub::list_models(directory_);
  if (names.empty()) names = hub::list_builtin_models();
  if (names.size() == 1) return names.front();
  if (names.empty()) {
    throw make_error(ErrorCode::not_found,
                     "this server has no models; whoever runs it can put some into its models folder");
  }
  throw make_error(ErrorCode::invalid_argument,
                   "the request names no model, and this server has several: ", joined(names));
}

std::vector<NamedFolder> ModelNames::all() const {
  std::vector<NamedFolder> folders;
  if (!default_is_inside_) folders.push_back(default_);
  for (const std::string& name : hub::list_models(directory_)) {
    if (default_is_inside_ || name != default_.name) folders.push_back({name, directory_ / fs::path(name)});
  }
  for (const std::string& name : hub::list_builtin_models()) {
    if (default_is_inside_ || name != default_.name) folders.push_back({name, hub::resolve_builtin_model(name)});
  }
  return folders;
}

}  // namespace alate::server
