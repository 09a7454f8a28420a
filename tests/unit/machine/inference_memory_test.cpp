// The estimate of inference memory from sizes only.
#include <gtest/gtest.h>

#include <array>

#include "alate/memory.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using base::error_of;

InferenceMemory estimate(const std::array<std::uint64_t, 8>& s) {
  return estimate_inference_memory(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
}

// (32·(2·4096² + 2·4096·1024 + 3·4096·14336 + 2·4096) + 2·32000·4096 + 4096)·4 and so on, by hand.
constexpr std::array<std::uint64_t, 8> kSevenBillion = {4096, 14336, 32, 32000, 32, 8, 4096, 4};

TEST(InferenceMemory, OfADecoderOfSevenBillionParameters) {
  const InferenceMemory memory = estimate(kSevenBillion);
  EXPECT_EQ(memory.model, 28966928384U);
  EXPECT_EQ(memory.kv_cache, 1073741824U);
  EXPECT_EQ(memory.activations, 262144U);
  EXPECT_EQ(memory.total(), 30040932352U);
}

TEST(InferenceMemory, OfSizesThatAreOne) {
  const InferenceMemory memory = estimate({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(memory.model, 2U + 2 + 3 + 2 + 2 + 1);
  EXPECT_EQ(memory.kv_cache, 2U);
  EXPECT_EQ(memory.activations, 6U);
}

TEST(InferenceMemory, HalfTheBytesOfAnElementAreHalfOfAll) {
  auto sizes = kSevenBillion;
  sizes[7] = 2;
  EXPECT_EQ(estimate(sizes).total(), 30040932352U / 2);
}

TEST(InferenceMemory, ASizeOfZeroIsNamed) {
  constexpr std::array kNames = {"hidden", "intermediate", "layers",  "vocab",
                                 "heads",  "kv_heads",     "max_seq", "dtype_bytes"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    auto sizes = kSevenBillion;
    sizes[i] = 0;
    const Error error = error_of([&] { estimate(sizes); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.message().find(std::string(kNames[i]) + " is 0"), 0U) << error.message();
  }
}

TEST(InferenceMemory, HeadsDivide) {
  EXPECT_EQ(error_of([] { estimate({4096, 1, 1, 1, 33, 1, 1, 4}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([] { estimate({4096, 1, 1, 1, 32, 5, 1, 4}); }).code(), ErrorCode::invalid_argument);
}

TEST(InferenceMemory, SizesBeyond64BitsAreRefused) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  for (const std::array<std::uint64_t, 8>& sizes :
       std::initializer_list<std::array<std::uint64_t, 8>>{{kHuge, 1, 1, 1, 1, 1, 1, 1},
                                                           {1, kHuge, kHuge, 1, 1, 1, 1, 1},
                                                           {1, 1, kHuge, 1, 1, 1, kHuge, 1},
                                                           {1, 1, 1, kHuge, 1, 1, 1, kHuge},
                                                           {1, 1, 1, 1, 1, 1, std::uint64_t{1} << 62, 2},
                                                           {1, std::uint64_t{1} << 62, 1, 1, 1, 1, 1, 1}}) {
    const Error error = error_of([&] { estimate(sizes); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("64-bit"), std::string::npos) << error.message();
  }
}

TEST(HumanBytes, KeepThreeDigits) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1023), "1023 bytes");
  EXPECT_EQ(human_bytes(1024), "1.00 KiB");
  EXPECT_EQ(human_bytes(10 * 1024 + 512), "10.5 KiB");
  EXPECT_EQ(human_bytes(1048575), "1.00 MiB");
  EXPECT_EQ(human_bytes(30040932352), "28.0 GiB");
  EXPECT_EQ(human_bytes(std::uint64_t{300} << 20), "300 MiB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16.0 EiB");
}

}  // namespace
}  // namespace alate
