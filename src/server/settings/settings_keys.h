// How the keys of a server are spelled in its settings.
#pragma once

#include <optional>
#include <string_view>

namespace alate::server {

enum class KeyRole {
  use,      // models, and to read what the server tells about itself
  metrics,  // /metrics and nothing else
  admin,    // everything: also which models are loaded, and where the machine has its libraries
};

std::string_view to_string(KeyRole role);

/// "KEY" or "ROLE KEY". A key has no space, so that every key can be spelled, whatever it has.
struct KeyEntry {
  KeyRole role = KeyRole::use;
  std::string_view key;  // part of the text
};
/// Nothing where the part before a space is no role.
std::optional<KeyEntry> parse_key_entry(std::string_view text);

}  // namespace alate::server
