#include "base/sha1.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace alate::base {
namespace {

std::string sha1(std::string_view text, std::size_t portion = 1000) {
  Sha1 sum;
  for (std::size_t at = 0; at < text.size(); at += portion)
    sum.add(std::as_bytes(std::span(text.substr(at, std::min(portion, text.size() - at)))));
  return sum.finish();
}

// The examples of FIPS 180-4, and the empty file of git.
TEST(Sha1, ExamplesOfTheStandard) {
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1(std::string_view("blob 0\0", 7)), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

// Lengths around the end of a block, by sha1sum of so many x.
TEST(Sha1, EveryLengthOfTheLastBlock) {
  EXPECT_EQ(sha1(std::string(55, 'x')), "cef734ba81a024479e09eb5a75b6ddae62e6abf1");
  EXPECT_EQ(sha1(std::string(56, 'x')), "901305367c259952f4e7af8323f480d59f81335b");
  EXPECT_EQ(sha1(std::string(63, 'x')), "0ddc4e0cccd9a12850deb5abb0853a4425559fec");
  EXPECT_EQ(sha1(std::string(64, 'x')), "bb2fa3ee7afb9f54c6dfb5d021f14b1ffe40c163");
  EXPECT_EQ(sha1(std::string(65, 'x')), "78c741ddc482e4cdf8c474a0876347a0905b6233");
}

TEST(Sha1, PortionsOfAnySize) {
  const std::string text(517, 'y');
  for (const std::size_t portion : {1, 3, 63, 64, 65, 128, 200}) EXPECT_EQ(sha1(text, portion), sha1(text)) << portion;
}

}  // namespace
}  // namespace alate::base
