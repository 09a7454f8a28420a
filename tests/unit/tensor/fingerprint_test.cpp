#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"

namespace alate {
namespace {

Fingerprint of(std::string_view text) { return FingerprintBuilder().add(text).finish(); }

int differing_bits(const Fingerprint& a, const Fingerprint& b) {
  return std::popcount(a.low ^ b.low) + std::popcount(a.high ^ b.high);
}

// Written down once: a change here means that every cache made by an earlier version is lost.
TEST(Fingerprint, IsTheSameInEveryProcessAndVersion) {
  EXPECT_EQ(to_string(FingerprintBuilder().finish()), "42f14b93c51d73705c31397cd5ad4188");
  EXPECT_EQ(to_string(of("alate")), "eb376819fc22d62dc06359dcefebb4db");
  EXPECT_EQ(to_string(FingerprintBuilder().add("a text of more than eight bytes").add(std::uint64_t{42}).finish()),
            "1e6d513ec6dece5a25cd8c2804294497");
}

TEST(Fingerprint, PrintsThirtyTwoDigitsHighHalfFirst) {
  EXPECT_EQ(to_string(Fingerprint{0x0123456789abcdefULL, 0xfULL}), "000000000000000f0123456789abcdef");
}

TEST(Fingerprint, OrderKindAndBordersOfTheInputsMatter) {
  const std::vector<Fingerprint> all = {
      FingerprintBuilder().finish(),
      of(""),
      of(std::string_view("\0", 1)),
      of(std::string_view("\0\0", 2)),
      of(std::string_view("\0\0\0\0\0\0\0\0", 8)),
      of("ab"),
      FingerprintBuilder().add("a").add("b").finish(),
      FingerprintBuilder().add("b").add("a").finish(),
      FingerprintBuilder().add("ab").add("").finish(),
      FingerprintBuilder().add("").add("ab").finish(),
      FingerprintBuilder().add(std::uint64_t{0}).finish(),
      FingerprintBuilder().add(std::uint64_t{0}).add(std::uint64_t{0}).finish(),
      FingerprintBuilder().add(std::uint64_t{0x6261}).finish(),
      FingerprintBuilder().add(Fingerprint{0, 0}).finish(),
      FingerprintBuilder().add(Fingerprint{1, 0}).finish(),
      FingerprintBuilder().add(Fingerprint{0, 1}).finish(),
  };
  EXPECT_EQ(std::set<Fingerprint>(all.begin(), all.end()).size(), all.size());
}

TEST(Fingerprint, OneBitOfInputFlipsAboutHalfOfTheBits) {
  for (const std::size_t length : {1, 7, 8, 9, 64, 200}) {
    const std::string text(length, 'q');
    const Fingerprint before = of(text);
    int least = 128;
    int most = 0;
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
      std::string changed = text;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      const int bits = differing_bits(before, of(changed));
      least = std::min(least, bits);
      most = std::max(most, bits);
    }
    // 64 is the mean and 5.7 the standard deviation of a random function: these bounds are 6 of them away.
    EXPECT_GT(least, 30) << length;
    EXPECT_LT(most, 98) << length;
  }
}

TEST(Fingerprint, CountersDoNotCollideInEitherHalf) {
  std::set<std::uint64_t> lows;
  std::set<std::uint64_t> highs;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Fingerprint fingerprint = FingerprintBuilder().add(i << 40).add(i).finish();
    lows.insert(fingerprint.low);
    highs.insert(fingerprint.high);
  }
  EXPECT_EQ(lows.size(), 20'000U);
  EXPECT_EQ(highs.size(), 20'000U);
}

}  // namespace
}  // namespace alate
