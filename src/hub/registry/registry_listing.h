// What a registry of Termite's says: its index of models, and the manifest of one. Everything in them is untrusted.
//   REGISTRY/index.json                   {"schemaVersion": 2, "models": [{"name", "owner", "type", "variants", …}]}
//   REGISTRY/manifests/OWNER/NAME.json    model_manifest.json, with the digests of all files
//   REGISTRY/blobs/sha256:DIGEST          the bytes of a file
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "folders/manifest.h"

namespace alate::hub {

inline constexpr std::size_t kMostRegistryBytes = std::size_t{16} << 20;  // of an index or a manifest
inline constexpr std::size_t kMostRegistryModels = 20'000;

struct RegistryEntry {
  std::string id;      // "owner/name", or "name": folders::is_repo_id
  std::string source;  // where it was published: "BAAI/bge-m3"; may be empty
  std::string type;    // "embedder"
  std::string description;
  std::vector<std::string> capabilities, variants, backends;
  std::optional<std::uint64_t> bytes;  // of all files, as stated
};

/// Parses an index; `what` is for messages. In its order. Throws corrupt for text of another form, for names that no
/// model can have and two that differ in the case of letters only; resource_exhausted for more than kMostRegistryModels
/// or kMostRegistryBytes; unsupported for a newer schema.
std::vector<RegistryEntry> parse_registry_index(std::string_view text, const std::string& what);

/// Parses the manifest of the model `id`. Besides what parse_manifest checks, every file has a SHA-256 digest, no name
/// has two digests, none is model_manifest.json, and name and owner are those of `id`, but for the case of letters.
/// Throws as parse_manifest; corrupt where they are not; not_found where it lists no files; resource_exhausted for a
/// file larger than kMostFileBytes; unsupported for a newer schema.
folders::Manifest parse_registry_manifest(std::string_view text, const std::string& id, const std::string& what);

/// The id in a manifest's own spelling: "owner/name", or "name".
std::string manifest_id(const folders::Manifest& manifest);

struct RegistryChoice {
  std::vector<std::string> variants = {};  // in any case of letters; "f32": the usual files
  std::vector<std::string> include = {};   // patterns; these files in place of those that a run needs
  std::vector<std::string> exclude = {};
  bool all = false;  // the files of all variants too
};

/// Of a manifest's files those to fetch: without variants all of `files`; with some, their files and those of `files`
/// that are no weights. Each name once. Throws not_found for a variant that is not there, listing those that are, and
/// where patterns leave nothing; corrupt for names that not every system can have (require_portable_names).
std::vector<folders::ManifestFile> choose_registry_files(const folders::Manifest& manifest,
                                                         const RegistryChoice& choice, const std::string& what);

}  // namespace alate::hub
