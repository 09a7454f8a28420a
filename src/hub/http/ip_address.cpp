#include "hub/http/ip_address.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/split_text.h"

namespace alate::hub {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kIpv4Bytes = 4, kIpv6Bytes = 16;

// A number of at most `most_digits` digits and nothing else.
std::optional<unsigned> number_of(std::string_view text, int base, std::size_t most_digits, unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && text.size() <= most_digits && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<Bytes> parse_ipv4(std::string_view text) {
  Bytes bytes;
  for (const std::string_view part : base::split_text(text, '.')) {
    const std::optional<unsigned> number = number_of(part, 10, 3, 255);
    if (!number || bytes.size() == kIpv4Bytes) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*number));
  }
  return bytes.size() == kIpv4Bytes ? std::optional(bytes) : std::nullopt;
}

// Groups of four digits, the last of which may be an IPv4 address; empty text has none.
std::optional<Bytes> parse_groups(std::string_view text) {
  Bytes bytes;
  if (text.empty()) return bytes;
  const std::vector<std::string_view> groups = base::split_text(text, ':');
  for (const std::string_view& group : groups) {
    if (const auto number = number_of(group, 16, 4, 0xFFFF)) {
      bytes.push_back(static_cast<std::uint8_t>(*number >> 8U));
      bytes.push_back(static_cast<std::uint8_t>(*number & 0xFFU));
      continue;
    }
    const std::optional<Bytes> last = &group == &groups.back() ? parse_ipv4(group) : std::nullopt;
    if (!last) return std::nullopt;
    bytes.insert(bytes.end(), last->begin(), last->end());
  }
  return bytes.size() <= kIpv6Bytes ? std::optional(bytes) : std::nullopt;
}

std::optional<Bytes> parse_ipv6(std::string_view text) {
  const std::size_t zeros = text.find("::");
  if (zeros == std::string_view::npos) {
    std::optional<Bytes> all = parse_groups(text);
    return all && all->size() == kIpv6Bytes ? all : std::nullopt;
  }
  std::optional<Bytes> first = parse_groups(text.substr(0, zeros));
  const std::optional<Bytes> last = parse_groups(text.substr(zeros + 2));
  if (!first || !last || first->size() + last->size() > kIpv6Bytes - 2) return std::nullopt;
  first->resize(kIpv6Bytes - last->size());
  first->insert(first->end(), last->begin(), last->end());
  return first;
}

}  // namespace

std::optional<Bytes> parse_ip_address(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return parse_ipv4(text);
  std::optional<Bytes> bytes = parse_ipv6(text);
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (bytes && std::equal(kMapped.begin(), kMapped.end(), bytes->begin()))
    bytes->erase(bytes->begin(), bytes->begin() + kMapped.size());
  return bytes;
}

bool is_in_range(std::string_view range, const Bytes& address) {
  const std::size_t slash = range.find('/');
  if (slash == std::string_view::npos) return false;
  const std::optional<Bytes> first = parse_ip_address(range.substr(0, slash));
  if (!first || first->size() != address.size()) return false;
  const auto bits = number_of(range.substr(slash + 1), 10, 3, static_cast<unsigned>(8 * address.size()));
  if (!bits) return false;
  for (unsigned bit = 0; bit < *bits; ++bit) {
    const unsigned differing = (*first)[bit / 8] ^ address[bit / 8];
    if ((differing >> (7 - bit % 8) & 1U) != 0) return false;
  }
  return true;
}

}  // namespace alate::hub
