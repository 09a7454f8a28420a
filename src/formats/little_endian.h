// Little-endian integers in files, independent of the machine's byte order.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace alate::formats {

/// Reads the first sizeof(Integer) bytes of `bytes`, which must have that many.
template <std::unsigned_integral Integer>
Integer load_little_endian(std::span<const std::byte> bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value = static_cast<Integer>(value | static_cast<Integer>(std::to_integer<Integer>(bytes[i]) << (8 * i)));
  }
  return value;
}

template <std::unsigned_integral Integer, typename Bytes>
void append_little_endian(Bytes& out, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    out.push_back(static_cast<typename Bytes::value_type>((value >> (8 * i)) & 0xFF));
  }
}

}  // namespace alate::formats
