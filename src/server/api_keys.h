// The keys that a server takes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "server/http_message.h"

namespace alate::server {

/// Immutable; thread-safe. Keeps digests alone.
class ApiKeys {
 public:
  explicit ApiKeys(const std::vector<std::string>& keys);

  /// Whether none is needed.
  bool empty() const { return digests_.empty(); }

  /// Which of the keys the request shows, as "Authorization: Bearer KEY", "X-API-Key: KEY" or "api-key: KEY"; nothing
  /// when it shows none. How long it takes says nothing about the keys.
  std::optional<std::size_t> check(const Headers& headers) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  std::optional<std::size_t> find(std::string_view shown) const;

  std::vector<Digest> digests_;
};

}  // namespace alate::server
