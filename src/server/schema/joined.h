// Schemas put together at compile time from parts that several of them share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace alate::server {

namespace detail {

template <const std::string_view&... kParts>
inline constexpr auto kJoinedText = [] {
  std::array<char, (kParts.size() + ... + std::size_t{0})> text{};
  auto* to = text.data();
  ((to = std::copy(kParts.begin(), kParts.end(), to)), ...);
  return text;
}();

}  // namespace detail

/// The parts one after the other; they are constants with linkage.
template <const std::string_view&... kParts>
inline constexpr std::string_view kJoined{detail::kJoinedText<kParts...>.data(), detail::kJoinedText<kParts...>.size()};

}  // namespace alate::server
