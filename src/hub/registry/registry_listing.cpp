#include "hub/registry/registry_listing.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "folders/cache_layout.h"
#include "folders/variant_names.h"
#include "formats/json.h"
#include "hub/download/file_pattern.h"
#include "hub/download/remote_model.h"

namespace alate::hub {
namespace {

using formats::Json;

constexpr std::int64_t kNewestSchema = 2;
constexpr std::size_t kMostText = std::size_t{64} << 10, kMostWord = 256, kMostWords = 256;
constexpr std::string_view kUsualVariant = "f32";

[[noreturn]] void refuse_registry_text(const std::string& what, const std::string& why) {
  throw make_error(ErrorCode::corrupt, what, ": ", why);
}

void check_schema(const Json& json, const std::string& what) {
  const Json* version = json.find_value("schemaVersion");
  if (version == nullptr) return;
  const std::int64_t number = version->is_integer() ? version->as_int("schemaVersion") : -1;
  if (number < 1) refuse_registry_text(what, "schemaVersion is no number from 1 on");
  if (number > kNewestSchema)
    throw make_error(ErrorCode::unsupported, what, " has schemaVersion ", number, ", and this version reads up to ",
                     kNewestSchema, "; a newer alate may read it: schemaVersion");
}

std::string text_of(const Json& entry, std::string_view key, std::size_t most, const std::string& what) {
  std::string text = entry.get_string(key, "");
  if (text.size() > most)
    refuse_registry_text(
        what, std::string(key) + " has " + std::to_string(text.size()) + " bytes; it may have " + std::to_string(most));
  return text;
}

std::vector<std::string> words_of(const Json& entry, std::string_view key, const std::string& what) {
  std::vector<std::string> words;
  const Json* list = entry.find_value(key);
  if (list == nullptr) return words;
  for (const Json& each : list->as_array(key)) {
    if (each.as_string(key).size() > kMostWord || words.size() == kMostWords)
      refuse_registry_text(what, std::string(key) + " has more or longer words than any model");
    words.push_back(each.as_string(key));
  }
  return words;
}

RegistryEntry entry_of(const Json& entry, const std::string& what) {
  if (!entry.is_object()) refuse_registry_text(what, "an entry of \"models\" is no object");
  const std::string owner = entry.get_string("owner", "");
  RegistryEntry out{.id = (owner.empty() ? "" : owner + "/") + entry.get_string("name", ""),
                    .source = text_of(entry, "source", kMostWord, what),
                    .type = text_of(entry, "type", kMostWord, what),
                    .description = text_of(entry, "description", kMostText, what),
                    .capabilities = words_of(entry, "capabilities", what),
                    .variants = words_of(entry, "variants", what),
                    .backends = words_of(entry, "backends", what),
                    .bytes = {}};
  if (!folders::is_repo_id(out.id)) refuse_registry_text(what, formats::quoted_name(out.id) + " is no name of a model");
  if (const Json* bytes = entry.find_value("size")) {
    const std::int64_t count = bytes->as_int("size");
    if (count < 0) refuse_registry_text(what, out.id + " has a size below zero");
    if (count > 0) out.bytes = static_cast<std::uint64_t>(count);
  }
  return out;
}

// Errors of a JSON value's type are the file's.
template <typename Parse>
auto as_corrupt(const std::string& what, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) refuse_registry_text(what, std::string(error.message()));
    throw;
  }
}

bool is_of_onnx(std::string_view name) {
  constexpr std::array<std::string_view, 3> kEndings = {".onnx", ".onnx_data", ".onnx.data"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// Those of the manifest's usual files that are weights of the model itself.
std::set<std::string> weights_of(const folders::Manifest& manifest) {
  std::set<std::string> weights;
  std::vector<std::string> names;
  for (const folders::ManifestFile& file : manifest.files) {
    names.push_back(file.name);
    if (is_of_onnx(file.name)) weights.insert(file.name);
  }
  for (const folders::ModelVariant& variant : folders::variants_of_names(names))
    weights.insert(variant.files.begin(), variant.files.end());
  return weights;
}

const folders::ManifestVariant* find_listed(const folders::Manifest& manifest, const std::string& wanted) {
  const std::string name = base::ascii_lower(wanted);
  const auto found = std::ranges::find_if(
      manifest.variants, [&](const folders::ManifestVariant& each) { return base::ascii_lower(each.name) == name; });
  return found == manifest.variants.end() ? nullptr : &*found;
}

Error no_variant(const folders::Manifest& manifest, const std::string& wanted) {
  std::string there(kUsualVariant);
  for (const folders::ManifestVariant& each : manifest.variants) there += ", " + formats::quoted_name(each.name);
  return make_error(ErrorCode::not_found, manifest_id(manifest), " has no variant ", formats::quoted_name(wanted),
                    "; it has ", there);
}

// Without patterns.
std::vector<folders::ManifestFile> files_of_variants(const folders::Manifest& manifest,
                                                     const std::vector<std::string>& variants) {
  bool takes_usual = variants.empty();
  std::vector<folders::ManifestFile> files;
  for (const std::string& wanted : variants) {
    if (const folders::ManifestVariant* variant = find_listed(manifest, wanted)) {
      files.insert(files.end(), variant->files.begin(), variant->files.end());
    } else if (base::ascii_lower(wanted) == kUsualVariant) {
      takes_usual = true;
    } else {
      throw no_variant(manifest, wanted);
    }
  }
  const std::set<std::string> weights = takes_usual ? std::set<std::string>() : weights_of(manifest);
  for (const folders::ManifestFile& file : manifest.files) {
    if (!weights.contains(file.name)) files.push_back(file);
  }
  return files;
}

std::vector<folders::ManifestFile> all_files(const folders::Manifest& manifest) {
  std::vector<folders::ManifestFile> files = manifest.files;
  for (const folders::ManifestVariant& each : manifest.variants)
    files.insert(files.end(), each.files.begin(), each.files.end());
  return files;
}

}  // namespace

std::string manifest_id(const folders::Manifest& manifest) {
  return manifest.owner.empty() ? manifest.name : manifest.owner + "/" + manifest.name;
}

std::vector<RegistryEntry> parse_registry_index(std::string_view text, const std::string& what) {
  return as_corrupt(what, [&] {
    const Json json = formats::parse_json(
        text, what, {.max_depth = 16, .max_bytes = kMostRegistryBytes, .max_values = std::size_t{1} << 20});
    if (!json.is_object()) refuse_registry_text(what, "it is no object");
    check_schema(json, what);
    const Json* models = json.find_value("models");
    if (models == nullptr) refuse_registry_text(what, "it has no list \"models\"");
    const Json::Array& list = models->as_array("models");
    if (list.size() > kMostRegistryModels)
      throw make_error(ErrorCode::resource_exhausted, what, ": it lists ", list.size(), " models; at most ",
                       kMostRegistryModels, " are taken");
    std::vector<RegistryEntry> entries;
    std::map<std::string, std::string> seen;
    for (const Json& each : list) {
      RegistryEntry entry = entry_of(each, what);
      const auto [place, is_new] = seen.emplace(base::ascii_lower(entry.id), entry.id);
      if (!is_new) refuse_registry_text(what, place->second + " and " + entry.id + " are one name on some systems");
      entries.push_back(std::move(entry));
    }
    return entries;
  });
}

folders::Manifest parse_registry_manifest(std::string_view text, const std::string& id, const std::string& what) {
  return as_corrupt(what, [&] {
    folders::Manifest manifest = folders::parse_manifest(text, what);
    check_schema(manifest.json, what);
    const std::string own = manifest_id(manifest);
    if (!folders::is_repo_id(own) || base::ascii_lower(own) != base::ascii_lower(id))
      refuse_registry_text(what,
                           "it is the manifest of " + formats::quoted_name(own) + ", and " + id + " was asked for");
    if (manifest.files.empty())
      throw make_error(ErrorCode::not_found, what, " lists no files: the registry has only the name of ", id);
    std::map<std::string, std::string> digests;
    for (const folders::ManifestFile& file : all_files(manifest)) {
      const std::string shown = formats::quoted_name(file.name);
      if (file.sha256.empty()) refuse_registry_text(what, shown + " has no digest");
      if (base::ascii_lower(file.name) == "model_manifest.json")
        refuse_registry_text(what, "it lists " + shown + ", which is itself");
      if (file.size.value_or(0) > kMostFileBytes)
        throw make_error(ErrorCode::resource_exhausted, what, ": ", shown, " has ", *file.size,
                         " bytes, which is more than any model's file");
      if (const auto [place, is_new] = digests.emplace(file.name, file.sha256); place->second != file.sha256)
        refuse_registry_text(what, shown + " has two digests");
    }
    return manifest;
  });
}

std::vector<folders::ManifestFile> choose_registry_files(const folders::Manifest& manifest,
                                                         const RegistryChoice& choice, const std::string& what) {
  const bool is_open = choice.all || !choice.include.empty();
  const std::vector<folders::ManifestFile> offered =
      is_open ? all_files(manifest) : files_of_variants(manifest, choice.variants);
  std::vector<folders::ManifestFile> chosen;
  std::vector<RemoteFile> names;
  std::set<std::string> seen;
  for (const folders::ManifestFile& file : offered) {
    const bool is_asked = choice.all || choice.include.empty() || matches_any(file.name, choice.include);
    if (!is_asked || matches_any(file.name, choice.exclude) || !seen.insert(file.name).second) continue;
    chosen.push_back(file);
    names.push_back({.name = file.name});
  }
  if (chosen.empty())
    throw make_error(ErrorCode::not_found, manifest_id(manifest), " has no file that --include and --exclude leave");
  require_portable_names(names, what);
  return chosen;
}

}  // namespace alate::hub
