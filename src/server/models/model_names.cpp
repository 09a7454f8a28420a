#include "server/models/model_names.h"

#include <algorithm>
#include <system_error>

#include "alate/error.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "folders/model_variants.h"
#include "folders/packaged_models.h"
#include "formats/json.h"
#include "server/pulls/download_rights.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;
using formats::quoted_name;

constexpr std::string_view kLatest = ":latest";
constexpr std::size_t kMostNamed = 10;
// Fetched models that are remembered; others are compared with the hub again.
constexpr std::size_t kMostFetched = 4096;
// Maximum age of the index for choosing the default model when none is configured.
constexpr std::chrono::seconds kFresh{1};

Error no_such_model(std::string_view name) {
  if (const folders::PackagedModel* packaged = folders::find_packaged_model(name))
    return make_error(ErrorCode::not_found, "there is no model ", quoted_name(name),
                      ": it has not been fetched on this server's machine, where ", folders::how_to_fetch(*packaged));
  return make_error(ErrorCode::not_found, "there is no model ", quoted_name(name),
                    "; GET /api/models lists what there is");
}

Error no_such_variant(const NamedFolder& model, std::string_view variant, const ModelIndex& index) {
  std::string there;
  for (const std::string& name : index.variants_of(model)) there += (there.empty() ? "" : ", ") + quoted_name(name);
  return make_error(ErrorCode::invalid_argument, "the model ", quoted_name(model.name), " has no variant ",
                    quoted_name(variant), there.empty() ? std::string("; leave it out") : "; there is " + there);
}

std::string joined(const std::vector<NamedFolder>& models) {
  std::string out;
  for (std::size_t i = 0; i < std::min(models.size(), kMostNamed); ++i) out += (i > 0 ? ", " : "") + models[i].name;
  if (models.size() > kMostNamed) out += " and " + std::to_string(models.size() - kMostNamed) + " more";
  return out;
}

// One spelling for "hf:…", with "@main" and without; the text itself if it is none.
std::string canonical_hub_name(std::string_view name) {
  try {
    return canonical_name(configured_reference(name));
  } catch (const Error&) {
    return std::string(name);
  }
}

// "owner/name" of a folder inside the models directory, from its relative path; empty if it is outside.
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

// Of a default model that is not in the models directory: a model of huggingface_hub's cache has the name of its
// repository, as the index lists it.
std::string name_outside(std::string_view reference, const fs::path& folder) {
  if (reference.starts_with(folders::kBuiltinPrefix)) return std::string(reference);
  return folders::hub_name_of(folder).value_or(fs::canonical(folder).filename().string());
}

}  // namespace

folders::ModelPlaces places_of(const Settings& settings) {
  return {.models_directory = settings.models_dir,
          .hub_cache = settings.hub_cache ? folders::user_hub_cache() : std::nullopt};
}

ModelNames::ModelNames(const Settings& settings)
    : settings_(settings), aliases_(settings.aliases.begin(), settings.aliases.end()), cache_(places_of(settings)) {
  set_default(settings);
  check_aliases();
}

void ModelNames::set_default(const Settings& settings) {
  if (settings.default_model.empty()) return;
  if (settings.default_model.starts_with(folders::kHubPrefix)) {
    const hub::PullReference reference = configured_reference(settings.default_model);
    if (settings.models_dir.empty() || !folders::find_model_name(reference.id, settings.models_dir)) {
      default_.name = canonical_name(reference);
      return;
    }
  }
  // Whoever starts the server may name a model of the cache even where it does not offer all of them.
  const folders::ModelPlaces places{.models_directory = settings.models_dir, .hub_cache = folders::user_hub_cache()};
  fs::path folder = folders::resolve_model(settings.default_model, places), file;
  const auto [plain, variant] = folders::split_variant(settings.default_model);
  if (!variant.empty() && !fs::is_directory(folder)) {
    file = std::move(folder);
    folder = folders::resolve_model(plain, places);
  }
  if (!fs::is_directory(folder)) {
    if (folder.extension() != ".gguf") {
      throw make_error(ErrorCode::invalid_argument, "the default model ", quoted_name(settings.default_model),
                       " is a file; give the folder of a model, or a GGUF");
    }
    // A GGUF is a model by itself, whatever lies beside it.
    const fs::path real = fs::canonical(folder);
    default_ = {folder.stem().string(), real.parent_path(), real};
    default_is_inside_ = false;
    return;
  }
  default_ = {name_inside(folder, settings.models_dir), folder, std::move(file)};
  default_is_inside_ = !default_.name.empty();
  if (!default_is_inside_) default_.name = name_outside(plain, folder);
  if (!default_.variant_file.empty()) default_.name += ":" + std::string(variant);
}

void ModelNames::check_aliases() const {
  const std::shared_ptr<const ModelIndex> index = cache_.get();
  const auto is_model = [&](std::string_view name) {
    try {
      return find(name, *index).has_value();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;  // several models have this name
    }
  };
  for (const auto& [alias, model] : aliases_) {
    if (is_model(alias)) {
      throw make_error(ErrorCode::invalid_argument, "aliases: there is a model called ", quoted_name(alias),
                       "; leave this alias out, or give it another name");
    }
    try {
      if (find_variant(model, *index)) continue;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_found) throw error.with_context("aliases: " + quoted_name(alias));
    }
    throw make_error(ErrorCode::not_found, "aliases: ", quoted_name(alias), " stands for ", quoted_name(model),
                     ", which is no model of the models directory and not built in");
  }
}

std::string_view ModelNames::without_alias(std::string_view name) const {
  auto found = aliases_.find(name);
  if (found == aliases_.end() && name.ends_with(kLatest))
    found = aliases_.find(name.substr(0, name.size() - kLatest.size()));
  return found == aliases_.end() ? name : std::string_view(found->second);
}

// Nothing if the index has no such model; throws for a malformed name.
std::optional<NamedFolder> ModelNames::find(std::string_view name, const ModelIndex& index) const {
  if (!default_is_inside_ && name == default_.name) return default_;
  std::string_view plain = name;
  if (plain.starts_with(folders::kBuiltinPrefix)) plain.remove_prefix(folders::kBuiltinPrefix.size());
  if (!folders::is_model_name(plain)) throw no_such_model(name);
  return index.find(name);
}

std::optional<NamedFolder> ModelNames::look_up(std::string_view name, const ModelIndex& index) const {
  const std::string chosen = name.empty() ? default_name(index) : std::string();
  name = without_alias(name.empty() ? std::string_view(chosen) : name);
  if (name.starts_with(folders::kHubPrefix)) {
    if (auto fetched = find_fetched(name)) return fetched;
    if (auto fetched = find_fetched(canonical_hub_name(name))) return fetched;
    if (is_configured(canonical_hub_name(name)))
      throw make_error(ErrorCode::unavailable, "the model ", quoted_name(name), " is still being fetched; ask again");
    throw make_error(
        ErrorCode::not_found, "there is no model ", quoted_name(name), ": ",
        settings_.allow_downloads ? "it has not been fetched" : "this server does not download",
        settings_.allow_downloads ? "; POST /api/pull fetches it" : "; GET /api/models lists what there is");
  }
  if (!default_is_inside_ && name == default_.name) return default_;
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  if (auto found = find_variant(name, index)) return found;
  return find_fetched(std::string(folders::kHubPrefix) + std::string(name));
}

std::optional<NamedFolder> ModelNames::find_fetched(std::string_view name) const {
  const std::lock_guard lock(fetched_mutex_);
  auto found = fetched_.find(name);
  if (found == fetched_.end() && name.ends_with(kLatest))
    found = fetched_.find(name.substr(0, name.size() - kLatest.size()));
  return found == fetched_.end() ? std::nullopt : std::optional(found->second);
}

bool ModelNames::is_configured(const std::string& canonical) const {
  const auto means_it = [&](const std::string& name) {
    return name.starts_with(folders::kHubPrefix) && canonical_name(configured_reference(name)) == canonical;
  };
  return canonical == default_.name || std::ranges::any_of(settings_.preload, means_it);
}

std::optional<hub::PullReference> ModelNames::to_fetch(std::string_view name) const {
  if (name.empty()) name = default_.name;
  name = without_alias(name);
  if (!name.starts_with(folders::kHubPrefix)) return std::nullopt;
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  if (find_fetched(name) || find_fetched(canonical_hub_name(name))) return std::nullopt;
  if (is_configured(canonical_hub_name(name))) return configured_reference(name);
  if (!settings_.allow_downloads) return std::nullopt;
  return permitted_reference(name, settings_);
}

void ModelNames::add_fetched(const hub::PullReference& reference, const fs::path& folder) const {
  NamedFolder model{.name = canonical_name(reference), .folder = folder};
  if (!reference.variant.empty()) model.variant_file = folders::resolve_variant(folder, reference.variant, model.name);
  const std::lock_guard lock(fetched_mutex_);
  if (fetched_.size() >= kMostFetched && !fetched_.contains(model.name)) fetched_.erase(fetched_.begin());
  fetched_.insert_or_assign(model.name, model);
}

std::optional<NamedFolder> ModelNames::find_variant(std::string_view name, const ModelIndex& index) const {
  const auto [plain, variant] = folders::split_variant(name);
  if (variant.empty()) return find(name, index);
  const std::optional<NamedFolder> model = find(without_alias(plain), index);
  if (!model) return std::nullopt;
  if (auto found = index.find_variant(*model, variant)) return found;
  throw no_such_variant(*model, variant, index);
}

std::optional<NamedFolder> ModelNames::find_in_memory(std::string_view name) const {
  const std::shared_ptr<const ModelIndex> index = cache_.get();
  const bool is_old = Clock::now() - index->begun() > kFresh;
  if (is_old) wants_refresh_ = true;
  // Which model is the default may have changed since.
  if (means_found_default(name) && (is_old || index->default_model() == nullptr)) return std::nullopt;
  return look_up(name, *index);
}

void ModelNames::refresh_if_requested() const {
  if (wants_refresh_.exchange(false)) cache_.refreshed();
}

NamedFolder ModelNames::resolve(std::string_view name, Clock::time_point since) const {
  if (!means_found_default(name)) {
    if (auto found = find_in_memory(name)) return std::move(*found);
  }
  if (auto found = look_up(name, *cache_.newer_than(since))) return std::move(*found);
  throw no_such_model(name);
}

NamedFolder ModelNames::resolve_soon(std::string_view name) const {
  if (auto found = find_in_memory(name)) return std::move(*found);
  if (auto found = look_up(name, *cache_.refreshed())) return std::move(*found);
  throw no_such_model(name);
}

std::string ModelNames::default_name() const {
  return default_.name.empty() ? default_name(*cache_.newer_than(Clock::now())) : default_.name;
}

std::string ModelNames::default_name(const ModelIndex& index) const {
  if (!default_.name.empty()) return default_.name;
  if (const NamedFolder* model = index.default_model()) return model->name;
  if (index.models().empty() && index.builtin().empty()) {
    throw make_error(ErrorCode::not_found,
                     "this server has no models; whoever runs it can put some into its models folder");
  }
  throw make_error(ErrorCode::invalid_argument, "the request names no model, and this server has several: ",
                   joined(index.models().empty() ? index.builtin() : index.models()));
}

std::vector<NamedFolder> ModelNames::all() const {
  const std::shared_ptr<const ModelIndex> index = cache_.refreshed();
  std::vector<NamedFolder> folders;
  if (!default_is_inside_ && !default_.folder.empty()) folders.push_back(default_);
  {
    const std::lock_guard lock(fetched_mutex_);
    for (const auto& [name, model] : fetched_) folders.push_back(model);
  }
  for (const std::vector<NamedFolder>* each : {&index->models(), &index->builtin()}) {
    for (const NamedFolder& model : *each) {
      if (default_is_inside_ || model.name != default_.name) folders.push_back(model);
    }
  }
  return folders;
}

}  // namespace alate::server
