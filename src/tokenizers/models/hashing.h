// Hashes of short texts for tables that are built and read in one process.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace alate::tokenizers {

/// Differs from process to process, so that a file cannot be made whose entries all collide.
std::uint64_t hash_seed();

namespace hashing {

inline constexpr std::uint64_t kFirst = 0x9E3779B97F4A7C15u;
inline constexpr std::uint64_t kSecond = 0xD6E8FEB86659FD93u;

inline std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, count);
  return value;
}

inline std::uint64_t mix(std::uint64_t value) {
  value *= kSecond;
  return value ^ value >> 32;
}

}  // namespace hashing

/// Eight bytes a step, with overlapping reads at the end. All 64 bits are usable.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  using namespace hashing;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = seed ^ left * kFirst;
  for (; left > 16; left -= 8, at += 8) hash = mix(hash ^ load(at, 8));
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  if (left >= 8) {
    head = load(at, 8);
    tail = load(at + left - 8, 8);
  } else if (left >= 4) {
    head = load(at, 4);
    tail = load(at + left - 4, 4);
  } else if (left > 0) {
    head = static_cast<unsigned char>(at[0]) | std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
           std::uint64_t{static_cast<unsigned char>(at[left - 1])} << 16;
  }
  return mix(mix(hash ^ head * kFirst) + tail * kFirst);
}

}  // namespace alate::tokenizers
