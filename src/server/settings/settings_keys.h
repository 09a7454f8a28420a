// Syntax of API keys in the settings.
#pragma once

#include <optional>
#include <string_view>

namespace alate::server {

enum class KeyRole {
  use,      // may use models and read server information
  metrics,  // /metrics only
  admin,    // everything, including which models are loaded and where the machine has its libraries
};

std::string_view to_string(KeyRole role);

/// "KEY" or "ROLE KEY". A key contains no space, so that any key can be written unambiguously.
struct KeyEntry {
  KeyRole role = KeyRole::use;
  std::string_view key;  // points into the text
};
/// Nothing if the part before a space is not a role.
std::optional<KeyEntry> parse_key_entry(std::string_view text);

}  // namespace alate::server
