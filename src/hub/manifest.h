// model_manifest.json: what a model's publisher says about it. Publishers are strangers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/session_option_rules.h"

namespace alate::hub {

struct ManifestFile {
  std::string name;                   // a plain relative path
  std::string sha256;                 // 64 lower-case hexadecimal digits; empty: not said
  std::optional<std::uint64_t> size;  // in bytes
};

struct Manifest {
  std::vector<std::string> backends;         // that may run the model; empty: any
  backends::SessionOptions session_options;  // as backends::session_option_rules allow and spell them
  std::vector<ManifestFile> files;           // those of variants are not among them

  /// Null where the manifest does not list it.
  const ManifestFile* find_file(std::string_view name) const;
};

/// The manifest in a model's folder; one that says nothing where there is none. Unknown keys are left alone. Throws
/// corrupt, naming file and key, for what is no manifest: a key of another type than it has, a text, list or number
/// beyond its bounds, a file's name that leads out of the folder, a session option without a rule, a link that leads
/// out of the folder.
Manifest read_manifest(const std::filesystem::path& folder);

/// The same of the file's text; `name` is for messages.
Manifest parse_manifest(std::string_view text, const std::string& name);

}  // namespace alate::hub
