// Philox-4x32 with 10 rounds, a counter-based generator of random bits: Salmon et al. 2011, "Parallel random numbers:
// as easy as 1, 2, 3", section 4.3.
#pragma once

#include <array>
#include <cstdint>

namespace alate::base {

/// The four words of a 128-bit counter under a key.
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                              std::uint64_t counter_high) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  std::array<std::uint32_t, 4> x = {low(counter_low), high(counter_low), low(counter_high), high(counter_high)};
  std::uint32_t key0 = low(key), key1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * x[0], second = std::uint64_t{0xCD9E8D57U} * x[2];
    x = {high(second) ^ x[1] ^ key0, low(second), high(first) ^ x[3] ^ key1, low(first)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return x;
}

}  // namespace alate::base
