// References to models in a registry.
#pragma once

#include <string>
#include <string_view>

namespace alate::hub {

inline constexpr std::string_view kRegistryPrefix = "registry:";

struct RegistryReference {
  std::string id;            // is_repo_id
  std::string variant = {};  // may be empty
  std::string registry;      // "https://registry.antfly.io/v1", without a / at the end
};

/// The registry that an option names, else ANTFLY_REGISTRY_URL, else Termite's public one. An address without a path
/// gets /v1. Throws invalid_argument for text that is no web address.
std::string registry_address(std::string_view given);

/// Whether a reference is for a registry: it begins with "registry:", is the address of a manifest
/// (".../manifests/owner/name.json"), or is a plain name and `given`, the registry of an option, is not empty.
bool is_registry_reference(std::string_view reference, std::string_view given);

/// "registry:owner/name:variant", where prefix and variant may be absent, or a manifest's address, with a variant or
/// without. Throws invalid_argument.
RegistryReference parse_registry_reference(std::string_view reference, std::string_view given);

}  // namespace alate::hub
