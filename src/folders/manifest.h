// model_manifest.json: the publisher's statements about a model. Its contents are untrusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_choice.h"
#include "backends/session_option_rules.h"
#include "formats/json.h"

namespace alate::folders {

struct ManifestFile {
  std::string name;                   // a plain relative path
  std::string sha256;                 // 64 lower-case hexadecimal digits; empty: not stated
  std::optional<std::uint64_t> size;  // in bytes
};

struct ManifestVariant {
  std::string name;
  std::vector<ManifestFile> files;
};

struct Manifest {
  std::string name, owner, type, description;  // empty: not stated
  std::vector<std::string> capabilities;
  std::vector<BackendPlace> backends;        // backends that may run the model; empty: any
  backends::SessionOptions session_options;  // allowed and spelled as in backends::session_option_rules
  std::vector<ManifestFile> files;           // without files of variants
  std::vector<ManifestVariant> variants;
  formats::Json json;  // all keys, unknown ones too; null if there is no manifest

  /// Null if the manifest does not list it.
  const ManifestFile* find_file(std::string_view wanted) const;
};

/// The manifest in a model's folder; an empty one if there is none. Throws corrupt, naming
/// file and key, for an invalid manifest: a key of the wrong type, a text, list or number beyond its bounds, a session
/// option without a rule, a file name or link that leads out of the folder.
Manifest read_manifest(const std::filesystem::path& folder);

/// Parses the file's text; `name` is for messages.
Manifest parse_manifest(std::string_view text, const std::string& name);

}  // namespace alate::folders
