#include "server/clients/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <string_view>

#include "alate/error.h"

namespace alate::server {
namespace {

std::array<unsigned char, SHA256_DIGEST_LENGTH> digest_of(std::string_view key) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// RFC 9110, 11.1: the scheme's name is case-insensitive.
std::string_view bearer_token(std::string_view authorization) {
  const std::string_view value = trimmed(authorization);
  const std::size_t space = value.find(' ');
  if (space == std::string_view::npos || !same_token(value.substr(0, space), "Bearer")) return {};
  return trimmed(value.substr(space));
}

}  // namespace

bool may(KeyRole role, Access access) {
  switch (access) {
    case Access::open:
    case Access::metrics: return true;  // metrics are aggregated over all clients and contain no texts
    case Access::keyed: return role != KeyRole::metrics;
    case Access::admin: return role == KeyRole::admin;
  }
  return false;
}

ApiKeys::ApiKeys(const std::vector<std::string>& entries) {
  for (const std::string& text : entries) {
    const auto entry = parse_key_entry(text);
    if (!entry)
      throw Error(ErrorCode::invalid_argument,
                  "api_keys has an entry with a space that begins with no role; write use, metrics or admin, a space, "
                  "and the key, which has none");
    const Digest digest = digest_of(entry->key);
    for (std::size_t i = 0; i < digests_.size(); ++i) {
      if (digests_[i] == digest && roles_[i] != entry->role)
        throw make_error(ErrorCode::invalid_argument, "api_keys has the same key as ", to_string(roles_[i]), " and as ",
                         to_string(entry->role), "; leave one out");
    }
    digests_.push_back(digest);
    roles_.push_back(entry->role);
  }
}

std::optional<std::size_t> ApiKeys::find(std::string_view shown) const {
  if (shown.empty()) return std::nullopt;
  const Digest digest = digest_of(shown);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    if (::CRYPTO_memcmp(digests_[i].data(), digest.data(), digest.size()) == 0) found = i;
  }
  return found;
}

std::optional<std::size_t> ApiKeys::check(const Headers& headers) const {
  if (digests_.empty()) return std::nullopt;
  // Clients may send several: a proxy's Authorization in addition to the key for this server.
  for (const auto& [name, value] : headers) {
    std::optional<std::size_t> found;
    if (same_token(name, "Authorization")) {
      found = find(bearer_token(value));
    } else if (same_token(name, "X-API-Key") || same_token(name, "api-key")) {
      found = find(trimmed(value));
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace alate::server
