// Sums are those of FIPS 180-4's examples and of Python's hashlib.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/sha256_blocks.h"

namespace alate::base {
namespace {

std::string sum_of(std::string_view text) { return Sha256().add(std::as_bytes(std::span(text))).finish(); }

TEST(Sha256, ExamplesOfTheStandard) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, LengthsAroundABlock) {
  EXPECT_EQ(sum_of(std::string(55, 'x')), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sum_of(std::string(56, 'x')), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sum_of(std::string(63, 'x')), "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(sum_of(std::string(64, 'x')), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(sum_of(std::string(65, 'x')), "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

TEST(Sha256, PortionsDoNotMatter) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
  const std::string whole = sum_of(text);
  for (const std::size_t portion : {1U, 13U, 63U, 64U, 65U, 200U}) {
    Sha256 sum;
    for (std::size_t at = 0; at < text.size(); at += portion)
      sum.add(std::as_bytes(std::span(text).subspan(at, std::min(portion, text.size() - at))));
    EXPECT_EQ(sum.finish(), whole) << portion;
  }
}

// The portable function is what processors without instructions for it run.
TEST(Sha256, NativeInstructionsGiveThePortableSums) {
  const Sha256Blocks native = native_sha256_blocks();
  if (native == nullptr) GTEST_SKIP() << "this processor has no instructions for SHA-256";
  std::array<std::uint8_t, 20 * kSha256BlockBytes + 1> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i + 7);
  for (const std::size_t count : {0U, 1U, 2U, 20U}) {
    Sha256State portable = {1, 2, 3, 0x80000000, 5, 6, 7, 0xFFFFFFFF}, fast = portable;
    add_sha256_blocks(portable, bytes.data() + 1, count);
    native(fast, bytes.data() + 1, count);
    EXPECT_EQ(fast, portable) << count;
  }
}

}  // namespace
}  // namespace alate::base
