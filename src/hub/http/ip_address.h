// Addresses of the Internet as text, and ranges of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace alate::hub {

/// The bytes of "192.0.2.1" (4) or "2001:db8::1" (16: RFC 4291, section 2.2), without brackets; nothing for a text of
/// another form. An IPv4 address in an IPv6 one ("::ffff:192.0.2.1") gives its 4 bytes.
std::optional<std::vector<std::uint8_t>> parse_ip_address(std::string_view text);

/// Whether `range` is "192.0.2.0/24" or "2001:db8::/32" (RFC 4632 and 4291), and has the address.
bool is_in_range(std::string_view range, const std::vector<std::uint8_t>& address);

}  // namespace alate::hub
