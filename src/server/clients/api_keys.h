// The keys that a server takes, and what each is for.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"
#include "server/route.h"
#include "server/settings/settings_keys.h"

namespace alate::server {

/// Whether a key of this role opens a route of this access.
bool may(KeyRole role, Access access);

/// Immutable; thread-safe. Keeps digests alone.
class ApiKeys {
 public:
  /// Entries as parse_key_entry takes them. Throws invalid_argument for what it does not, and for a key with two roles.
  explicit ApiKeys(const std::vector<std::string>& entries);

  /// Whether none is needed.
  bool empty() const { return digests_.empty(); }

  /// Which of the keys the request shows, as "Authorization: Bearer KEY", "X-API-Key: KEY" or "api-key: KEY"; nothing
  /// when it shows none. How long it takes says nothing about the keys.
  std::optional<std::size_t> check(const Headers& headers) const;
  /// Of a key that `check` has found.
  KeyRole role(std::size_t key) const { return roles_[key]; }

 private:
  using Digest = std::array<unsigned char, 32>;
  std::optional<std::size_t> find(std::string_view shown) const;

  std::vector<Digest> digests_;
  std::vector<KeyRole> roles_;
};

}  // namespace alate::server
