// SHA-256 (FIPS 180-4), which identifies downloaded files and models.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace alate::base {

/// Accepts bytes in portions of any size. Not thread-safe.
class Sha256 {
 public:
  Sha256& add(std::span<const std::byte> bytes);
  /// 64 lower-case hexadecimal digits over all bytes so far; call it once.
  std::string finish();

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> waiting_{};  // less than a block
  std::size_t waiting_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace alate::base
