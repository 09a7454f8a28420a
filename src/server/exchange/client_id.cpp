#include "server/exchange/client_id.h"

#include <array>
#include <boost/asio/ip/address.hpp>
#include <cstdio>

namespace alate::server {

ClientId client_of_address(std::string_view peer) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(peer, error);
  if (error) return {};
  if (address.is_v4()) return {ClientId::Kind::ipv4, address.to_v4().to_uint()};
  const auto bytes = address.to_v6().to_bytes();
  std::uint64_t network = 0;
  for (std::size_t i = 0; i < 8; ++i) network = network << 8U | bytes[i];
  return {ClientId::Kind::ipv6, network};
}

ClientId client_of_key(std::size_t key) { return {ClientId::Kind::key, key}; }

std::optional<std::size_t> shown_key(const ClientId& client) {
  if (client.kind != ClientId::Kind::key) return std::nullopt;
  return static_cast<std::size_t>(client.number);
}

std::string to_string(const ClientId& client) {
  switch (client.kind) {
    case ClientId::Kind::local: return "local";
    case ClientId::Kind::key: return "key:" + std::to_string(client.number);
    case ClientId::Kind::ipv4:
      return boost::asio::ip::address_v4(static_cast<boost::asio::ip::address_v4::uint_type>(client.number))
          .to_string();
    case ClientId::Kind::ipv6: break;
  }
  std::array<char, 32> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%016llx/64", static_cast<unsigned long long>(client.number));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace alate::server
