// Client identity for limits.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alate::server {

/// One client: its key if it presents one, else its address. Each IPv4 address is one client; so are all IPv6 addresses
/// with the same 64-bit prefix, because networks assign no less to a machine; so are all users of the Unix socket.
struct ClientId {
  enum class Kind : std::uint8_t { local, ipv4, ipv6, key };

  Kind kind = Kind::local;
  std::uint64_t number = 0;  // index of the key, or address bits

  friend auto operator<=>(const ClientId&, const ClientId&) = default;
};

/// From Request::peer. Anything that is not an address counts as local.
ClientId client_of_address(std::string_view peer);
/// `key` is its index in the list of keys.
ClientId client_of_key(std::size_t key);
/// Nothing for a client without a key.
std::optional<std::size_t> shown_key(const ClientId& client);

/// Distinct for distinct clients: "key:3", "10.0.0.7", "20010db800000001/64", "local".
std::string to_string(const ClientId& client);

}  // namespace alate::server
