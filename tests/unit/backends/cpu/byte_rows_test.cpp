#include "backends/cpu/kernels/rows/byte_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

class ByteRows : public EveryInstructionSet {};

TEST_P(ByteRows, AreExactAtEveryWidth) {
  constexpr std::size_t kRows = 5, kGap = 3;
  std::minstd_rand generator(7);
  for (std::size_t width = 1; width < 300; ++width) {
    const std::int32_t most = largest_byte_row_factor(width);
    std::vector<std::int8_t> m(kRows * (width + kGap));
    std::vector<std::int16_t> x(width);
    for (std::int8_t& value : m) value = static_cast<std::int8_t>(static_cast<int>(generator() % 256) - 128);
    for (std::int16_t& value : x)
      value = static_cast<std::int16_t>(static_cast<int>(generator() % (2U * static_cast<unsigned>(most) + 1)) - most);
    std::vector<std::int32_t> sums(kRows + 1, 77);
    dot_byte_rows(
        {.m = m.data(), .m_stride = width + kGap, .x = x.data(), .out = sums.data(), .rows = kRows, .width = width},
        set());
    for (std::size_t row = 0; row < kRows; ++row) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < width; ++i) sum += std::int64_t{m[row * (width + kGap) + i]} * x[i];
      ASSERT_EQ(sums[row], sum) << "width " << width << ", row " << row;
    }
    ASSERT_EQ(sums[kRows], 77);
  }
}

// The largest sums of either sign: one more in |x| would not fit 32 bits.
TEST_P(ByteRows, DoNotOverflowWithTheLargestFactors) {
  for (const std::size_t width : {1, 384, 768, 1024, 4096, 8192, 65536}) {
    const std::int32_t most = largest_byte_row_factor(width);
    ASSERT_GE(most, 1);
    const std::vector<std::int8_t> m(width, -128);
    for (const std::int32_t factor : {most, -most}) {
      const std::vector<std::int16_t> x(width, static_cast<std::int16_t>(factor));
      std::int32_t sum = 0;
      dot_byte_rows({.m = m.data(), .m_stride = width, .x = x.data(), .out = &sum, .rows = 1, .width = width}, set());
      EXPECT_EQ(std::int64_t{sum}, std::int64_t{-128} * factor * static_cast<std::int64_t>(width)) << width;
    }
  }
  EXPECT_EQ(largest_byte_row_factor(std::size_t{1} << 25), 0);
}

INSTANTIATE_TEST_SUITE_P(Sets, ByteRows, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

TEST(BitDifferences, AreCountedRowByRow) {
  std::minstd_rand generator(3);
  for (const std::size_t words : {1, 2, 5, 6, 7, 12, 16, 17}) {
    constexpr std::size_t kRows = 4;
    // One byte behind an aligned place: rows of a file may lie anywhere.
    std::vector<std::uint8_t> m(kRows * words * 8 + 1);
    std::vector<std::uint64_t> x(words);
    for (std::uint8_t& byte : m) byte = static_cast<std::uint8_t>(generator() >> 8);
    for (std::uint64_t& word : x) word = (std::uint64_t{generator()} << 33) ^ generator();
    std::vector<std::uint32_t> counts(kRows);
    bit_differences(m.data() + 1, x.data(), words, kRows, counts.data());
    for (std::size_t row = 0; row < kRows; ++row) {
      std::uint32_t count = 0;
      for (std::size_t bit = 0; bit < words * 64; ++bit) {
        const unsigned of_row = m[1 + row * words * 8 + bit / 8] >> (bit % 8) & 1U;
        count += of_row != (x[bit / 64] >> (bit % 64) & 1U) ? 1 : 0;
      }
      EXPECT_EQ(counts[row], count) << words << " words, row " << row;
    }
  }
}

}  // namespace
}  // namespace alate::cpu::kernel_testing
