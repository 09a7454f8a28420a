// API keys that the server accepts, and their roles.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/exchange/http_message.h"
#include "server/exchange/route.h"
#include "server/settings/settings_keys.h"

namespace alate::server {

/// Whether a key of this role grants access to a route of this access level.
bool may(KeyRole role, Access access);

/// Immutable; thread-safe. Stores only digests.
class ApiKeys {
 public:
  /// Takes entries in the format of parse_key_entry. Throws invalid_argument for malformed entries, and for a key with
  /// two roles.
  explicit ApiKeys(const std::vector<std::string>& entries);

  /// Whether no key is required.
  bool empty() const { return digests_.empty(); }

  /// Index of the key that the request presents, as "Authorization: Bearer KEY", "X-API-Key: KEY" or "api-key: KEY";
  /// nothing if it presents none of them. The time taken reveals nothing about the keys.
  std::optional<std::size_t> check(const Headers& headers) const;
  /// The role of a key found by `check`.
  KeyRole role(std::size_t key) const { return roles_[key]; }

 private:
  using Digest = std::array<unsigned char, 32>;
  std::optional<std::size_t> find(std::string_view shown) const;

  std::vector<Digest> digests_;
  std::vector<KeyRole> roles_;
};

}  // namespace alate::server
