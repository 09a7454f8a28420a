// Who a limit is counted for.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alate::server {

/// One client: the key that it shows, else its address. An IPv4 address is one client; so are all IPv6 addresses with
/// the same first 64 bits, since a network hands out no less to one machine; so are all users of the Unix socket.
struct ClientId {
  enum class Kind : std::uint8_t { local, ipv4, ipv6, key };

  Kind kind = Kind::local;
  std::uint64_t number = 0;  // of the key, or the address's bits

  friend auto operator<=>(const ClientId&, const ClientId&) = default;
};

/// From Request::peer. What is no address counts as local.
ClientId client_of_address(std::string_view peer);
/// `key` is its place in the list of keys.
ClientId client_of_key(std::size_t key);
/// Nothing for a client that shows none.
std::optional<std::size_t> shown_key(const ClientId& client);

/// Differs for different clients: "key:3", "10.0.0.7", "20010db800000001/64", "local".
std::string to_string(const ClientId& client);

}  // namespace alate::server
