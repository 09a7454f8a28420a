#include "server/settings/settings_keys.h"

#include <algorithm>
#include <array>

namespace alate::server {
namespace {

constexpr std::array<std::string_view, 3> kRoleNames = {"use", "metrics", "admin"};  // in the order of KeyRole

}  // namespace

std::string_view to_string(KeyRole role) { return kRoleNames.at(static_cast<std::size_t>(role)); }

std::optional<KeyEntry> parse_key_entry(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return KeyEntry{KeyRole::use, text};
  const auto role = std::ranges::find(kRoleNames, text.substr(0, space));
  if (role == kRoleNames.end()) return std::nullopt;
  std::string_view key = text.substr(space);
  key.remove_prefix(std::min(key.find_first_not_of(" \t"), key.size()));
  return KeyEntry{static_cast<KeyRole>(role - kRoleNames.begin()), key.substr(0, key.find_last_not_of(" \t") + 1)};
}

}  // namespace alate::server
