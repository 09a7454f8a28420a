// model_manifest.json: what a model's publisher says about it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace alate::hub {

struct Manifest {
  std::vector<std::string> backends;                                // that may run the model; empty: any
  std::map<std::string, std::string, std::less<>> session_options;  // for the runtime, numbers and booleans as text
};

/// The manifest in a model's folder; one that says nothing where there is none. Unknown keys are left alone. Throws
/// corrupt, naming file and key, for what is no manifest.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace alate::hub
