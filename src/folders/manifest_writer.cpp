#include "folders/manifest_writer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/version.h"
#include "base/files/atomic_file.h"
#include "folders/manifest.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::string_view kFile = "model_manifest.json";

Json entry_of(const fs::path& path, const std::string& name, const base::FileDigests& digests) {
  return Json::Object{
      {"name", name}, {"digest", "sha256:" + digests.sha256(path)}, {"size", std::uint64_t{fs::file_size(path)}}};
}

Json files_of(const fs::path& folder, const base::FileDigests& digests) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::string name = entry.path().lexically_relative(folder).generic_string();
    if (entry.is_regular_file() && name != kFile) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  Json::Array files;
  for (const std::string& name : names) files.push_back(entry_of(folder / name, name, digests));
  return files;
}

std::string last_part(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

Json provenance_of(const ModelOrigin& origin, const Manifest& from, const base::FileDigests& digests) {
  Json::Object source = {{"name", from.name.empty() ? last_part(origin.source) : from.name}};
  if (!from.owner.empty()) source.emplace_back("owner", from.owner);
  Json::Array files;
  for (const fs::path& file : origin.source_files)
    files.push_back(entry_of(file, file.lexically_relative(origin.source).generic_string(), digests));
  source.emplace_back("files", std::move(files));
  if (const Json* before = from.json.is_object() ? from.json.find_value("provenance") : nullptr)
    source.emplace_back("provenance", *before);
  return Json::Object{{"by", "alate " + std::string(version())},
                      {"command", origin.command},
                      {"settings", origin.settings},
                      {"source", std::move(source)}};
}

// Keys that this writes itself, whatever the source has.
constexpr std::array<std::string_view, 8> kOwnKeys = {"schemaVersion", "name",     "owner", "type",
                                                      "capabilities",  "variants", "files", "provenance"};

}  // namespace

void write_manifest(const fs::path& folder, const std::string& name, const ModelOrigin& origin,
                    const base::FileDigests& digests) {
  const Manifest from = read_manifest(origin.source);
  const Json* version = from.json.is_object() ? from.json.find_value("schemaVersion") : nullptr;
  std::vector<std::string> capabilities = from.capabilities.empty() ? origin.capabilities : from.capabilities;
  Json::Object manifest = {{"schemaVersion", version == nullptr ? Json(1) : *version},
                           {"name", name},
                           {"type", from.type.empty() ? origin.type : from.type},
                           {"capabilities", Json::Array(capabilities.begin(), capabilities.end())}};
  if (from.json.is_object()) {
    for (const auto& [key, value] : from.json.as_object(kFile)) {
      if (std::ranges::find(kOwnKeys, key) == kOwnKeys.end()) manifest.emplace_back(key, value);
    }
  }
  manifest.emplace_back("files", files_of(folder, digests));
  manifest.emplace_back("provenance", provenance_of(origin, from, digests));
  const std::string text = formats::to_json_text(manifest) + "\n";
  base::write_file_atomically(folder / fs::path(kFile), std::as_bytes(std::span(text)));
}

}  // namespace alate::folders
