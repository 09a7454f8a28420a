// SHA-1 (FIPS 180-4), by which git names objects. It identifies bytes; it does not protect against an attacker who made
// both files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace alate::base {

/// Accepts bytes in portions of any size. Not thread-safe.
class Sha1 {
 public:
  Sha1& add(std::span<const std::byte> bytes);
  /// 40 lower-case hexadecimal digits over all bytes so far; call it once.
  std::string finish();

 private:
  void add_block(const std::uint8_t* block);

  std::array<std::uint32_t, 5> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<std::uint8_t, 64> waiting_{};  // less than a block
  std::size_t waiting_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace alate::base
