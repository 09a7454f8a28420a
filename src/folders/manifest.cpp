#include "folders/manifest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

using formats::Json;

constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
constexpr formats::JsonLimits kLimits = {.max_depth = 32, .max_bytes = kMaxBytes, .max_values = 100'000};
constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kMostVariants = 64;
constexpr std::size_t kMostOptions = 64;

// Keys whose values are text or lists of text; README.md and docs explain them.
struct TextRule {
  std::string_view key;
  std::size_t most_bytes;
  std::size_t most_items = 0;  // maximum list length; 0: the value is text
};
constexpr std::array kTexts = std::to_array<TextRule>({
    {"name", 256},
    {"owner", 256},
    {"type", 64},
    {"description", std::size_t{64} << 10},
    {"capabilities", 128, 256},
    {"backends", 64, 64},
});

// Null if the key is absent or null.
const Json* member(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void require_text(const Json& value, std::string_view key, std::size_t most_bytes) {
  if (const std::size_t bytes = value.as_string(key).size(); bytes > most_bytes)
    throw make_error(ErrorCode::corrupt, key, " has ", bytes, " bytes; it may have ", most_bytes);
}

const Json::Array& list_of(const Json& value, std::string_view key, std::size_t most) {
  const Json::Array& list = value.as_array(key);
  if (list.size() > most)
    throw make_error(ErrorCode::corrupt, key, " has ", list.size(), " entries; it may have ", most);
  return list;
}

const Json::Object& object_of(const Json& value, std::string_view key, std::size_t most) {
  const Json::Object& object = value.as_object(key);
  if (object.size() > most)
    throw make_error(ErrorCode::corrupt, key, " has ", object.size(), " entries; it may have ", most);
  return object;
}

void check_texts(const Json& json) {
  for (const TextRule& rule : kTexts) {
    const Json* value = member(json, rule.key);
    if (value == nullptr) continue;
    if (rule.most_items == 0) {
      require_text(*value, rule.key, rule.most_bytes);
      continue;
    }
    for (const Json& item : list_of(*value, rule.key, rule.most_items)) require_text(item, rule.key, rule.most_bytes);
  }
}

void check_version(const Json& json) {
  const Json* version = member(json, "schemaVersion");
  if (version == nullptr) return;
  if (version->is_string()) return require_text(*version, "schemaVersion", 32);
  if (const std::int64_t number = version->as_int("schemaVersion"); number < 0 || number > 1'000'000)
    throw make_error(ErrorCode::corrupt, "schemaVersion is ", number, ", which is no version");
}

std::string relative_name(const Json& value, std::string_view key) {
  const std::string& name = value.as_string(key);
  if (!base::is_plain_relative_path(name))
    throw make_error(ErrorCode::corrupt, key, " is ", formats::quoted_name(name),
                     ", which is no name of a file inside the model's folder");
  return name;
}

// "sha256:HEX" or only the digits.
std::string sha256_of(const Json& value, const std::string& name) {
  std::string_view digits = value.as_string("files.digest");
  if (digits.starts_with("sha256:")) digits.remove_prefix(7);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  if (digits.size() != 64 || !std::ranges::all_of(digits, is_hex))
    throw make_error(ErrorCode::corrupt, "the digest of ", formats::quoted_name(name), " is ",
                     formats::quoted_name(value.as_string("files.digest")),
                     ": it is \"sha256:\" and 64 hexadecimal digits");
  return base::ascii_lower(digits);
}

ManifestFile file_of(const Json& json) {
  if (!json.is_object()) throw make_error(ErrorCode::corrupt, "files has a JSON ", json.kind(), ", not an object");
  const Json* name = member(json, "name");
  if (name == nullptr) throw Error(ErrorCode::corrupt, "files has an entry without a name");
  ManifestFile file{.name = relative_name(*name, "files.name"), .sha256 = {}, .size = {}};
  if (const Json* digest = member(json, "digest")) file.sha256 = sha256_of(*digest, file.name);
  if (const Json* size = member(json, "size")) {
    const std::int64_t bytes = size->as_int("files.size");
    if (bytes < 0) throw make_error(ErrorCode::corrupt, "the size of ", formats::quoted_name(file.name), " is ", bytes);
    file.size = static_cast<std::uint64_t>(bytes);
  }
  return file;
}

std::vector<ManifestFile> files_of(const Json& list, std::string_view key) {
  std::vector<ManifestFile> files;
  for (const Json& entry : list_of(list, key, kMostFiles)) files.push_back(file_of(entry));
  std::vector<std::string_view> names;
  for (const ManifestFile& file : files) names.emplace_back(file.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    throw make_error(ErrorCode::corrupt, key, " has ", formats::quoted_name(*twice), " twice");
  return files;
}

// A variant is a file name, an entry like those of `files`, or a list of these under "files".
std::vector<ManifestFile> variant_files(const Json& variant) {
  if (variant.is_null()) return {};
  if (variant.is_string()) return {ManifestFile{.name = relative_name(variant, "variants"), .sha256 = {}, .size = {}}};
  if (variant.is_array()) return files_of(variant, "variants");
  if (!variant.is_object())
    throw make_error(ErrorCode::corrupt, "variants has a JSON ", variant.kind(), ", not an object");
  if (const Json* files = member(variant, "files")) return files_of(*files, "variants.files");
  if (member(variant, "name") != nullptr) return {file_of(variant)};
  return {};
}

std::vector<ManifestVariant> variants_of(const Json& json) {
  std::vector<ManifestVariant> found;
  const Json* variants = member(json, "variants");
  if (variants == nullptr) return found;
  for (const auto& [name, variant] : object_of(*variants, "variants", kMostVariants)) {
    if (!base::is_plain_file_name(name))
      throw make_error(ErrorCode::corrupt, "variants has ", formats::quoted_name(name), ", which is no plain name");
    found.push_back({name, variant_files(variant)});
  }
  return found;
}

std::string option_text(const std::string& key, const Json& value) {
  if (value.is_string()) return value.as_string(key);
  if (value.is_bool() || value.is_number()) return formats::to_json_text(value);
  throw make_error(ErrorCode::corrupt, "session_options.", formats::quoted_name(key), " is a JSON ", value.kind(),
                   "; it must be text, a number or a boolean");
}

Manifest manifest_of(const Json& json) {
  Manifest manifest;
  if (!json.is_object()) throw make_error(ErrorCode::corrupt, "it is a JSON ", json.kind(), ", not an object");
  check_version(json);
  check_texts(json);
  manifest.name = json.get_string("name", "");
  manifest.owner = json.get_string("owner", "");
  manifest.type = json.get_string("type", "");
  manifest.description = json.get_string("description", "");
  if (const Json* capabilities = member(json, "capabilities")) {
    for (const Json& each : capabilities->as_array("capabilities"))
      manifest.capabilities.push_back(each.as_string("capabilities"));
  }
  manifest.variants = variants_of(json);
  if (const Json* backends = member(json, "backends")) {
    for (const Json& name : backends->as_array("backends"))
      manifest.backends.push_back(BackendPlace::parse(name.as_string("backends")));
  }
  if (const Json* options = member(json, "session_options")) {
    for (const auto& [key, value] : object_of(*options, "session_options", kMostOptions))
      manifest.session_options.emplace(key, backends::checked_session_option(key, option_text(key, value)));
  }
  if (const Json* files = member(json, "files")) manifest.files = files_of(*files, "files");
  return manifest;
}

}  // namespace

const ManifestFile* Manifest::find_file(std::string_view wanted) const {
  const auto found = std::ranges::find(files, wanted, &ManifestFile::name);
  return found == files.end() ? nullptr : &*found;
}

Manifest parse_manifest(std::string_view text, const std::string& name) {
  Json json = formats::parse_json(text, name, kLimits);
  try {
    Manifest manifest = manifest_of(json);
    manifest.json = std::move(json);
    return manifest;
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, name, ": ", error.message());
  }
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model_manifest.json";
  if (!base::is_there(path)) return {};
  return parse_manifest(base::read_contained_file(folder, "model_manifest.json", kMaxBytes), path.string());
}

}  // namespace alate::folders
