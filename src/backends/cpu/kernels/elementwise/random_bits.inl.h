// The loops of random_bits.h over counters, for one instruction set; vectorized by the compiler.
#pragma once

#include "backends/cpu/kernels/elementwise/random_bits.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

// Four rounds of section 4.2 of the paper, followed by a key addition.
template <int kR0, int kR1, int kR2, int kR3>
HWY_INLINE void threefry_rounds(std::uint32_t* HWY_RESTRICT x, std::uint32_t* HWY_RESTRICT y, std::uint32_t add_x,
                                std::uint32_t add_y) {
  for (std::size_t i = 0; i < kRandomRun; ++i) {
    std::uint32_t a = x[i], b = y[i];
    a += b;
    b = (b << kR0 | b >> (32 - kR0)) ^ a;
    a += b;
    b = (b << kR1 | b >> (32 - kR1)) ^ a;
    a += b;
    b = (b << kR2 | b >> (32 - kR2)) ^ a;
    a += b;
    b = (b << kR3 | b >> (32 - kR3)) ^ a;
    x[i] = a + add_x;
    y[i] = b + add_y;
  }
}

inline void threefry_words(std::uint64_t key, std::uint64_t first, std::uint32_t* HWY_RESTRICT x,
                           std::uint32_t* HWY_RESTRICT y) {
  const auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  const std::uint32_t parity = low ^ high ^ 0x1BD11BDAU;
  for (std::size_t i = 0; i < kRandomRun; ++i) {
    const std::uint64_t counter = first + i;
    x[i] = static_cast<std::uint32_t>(counter) + low;
    y[i] = static_cast<std::uint32_t>(counter >> 32) + high;
  }
  threefry_rounds<13, 15, 26, 6>(x, y, high, parity + 1);
  threefry_rounds<17, 29, 16, 24>(x, y, parity, low + 2);
  threefry_rounds<13, 15, 26, 6>(x, y, low, high + 3);
  threefry_rounds<17, 29, 16, 24>(x, y, high, parity + 4);
  threefry_rounds<13, 15, 26, 6>(x, y, parity, low + 5);
}

// Section 4.3 of the paper.
inline void philox_words(std::uint64_t key, std::uint64_t low, std::uint64_t high, std::uint32_t* HWY_RESTRICT words) {
  std::uint32_t *HWY_RESTRICT x0 = words, *HWY_RESTRICT x1 = words + kRandomRun,
                              *HWY_RESTRICT x2 = words + 2 * kRandomRun, *HWY_RESTRICT x3 = words + 3 * kRandomRun;
  for (std::size_t i = 0; i < kRandomRun; ++i) {
    const std::uint64_t counter = low + i, above = high + (counter < low ? 1 : 0);
    x0[i] = static_cast<std::uint32_t>(counter);
    x1[i] = static_cast<std::uint32_t>(counter >> 32);
    x2[i] = static_cast<std::uint32_t>(above);
    x3[i] = static_cast<std::uint32_t>(above >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kRandomRun; ++i) {
      const std::uint64_t first = std::uint64_t{0xD2511F53U} * x0[i], second = std::uint64_t{0xCD9E8D57U} * x2[i];
      x0[i] = static_cast<std::uint32_t>(second >> 32) ^ x1[i] ^ key0;
      x2[i] = static_cast<std::uint32_t>(first >> 32) ^ x3[i] ^ key1;
      x1[i] = static_cast<std::uint32_t>(second);
      x3[i] = static_cast<std::uint32_t>(first);
    }
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
