#include "backends/cpu/kernels/gemm/cache_blocks.h"

#include <gtest/gtest.h>

#include "base/hardware/cpu_facts.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kKilobyte = 1024;

TEST(CacheBlocks, LeaveRoomInTheSecondLevelCache) {
  for (const std::size_t kilobytes : {256, 512, 768, 1024, 1280, 2048}) {
    const CacheBlocks blocks = cache_blocks(kilobytes * kKilobyte);
    EXPECT_LT((blocks.row_words + blocks.waiting_floats) * sizeof(float), kilobytes * kKilobyte);
    EXPECT_GE(blocks.row_words * sizeof(float), kilobytes * kKilobyte / 2) << "half of it unused";
    EXPECT_GE(blocks.token_rows, 32U);
    EXPECT_LE(blocks.token_rows, 128U);
  }
  EXPECT_LT(cache_blocks(512 * kKilobyte).token_rows, cache_blocks(1024 * kKilobyte).token_rows);
}

TEST(CacheBlocks, HoldMoreRowsWhereThereIsMore) {
  EXPECT_GT(cache_blocks(2048 * kKilobyte).row_words, cache_blocks(1024 * kKilobyte).row_words);
  EXPECT_EQ(cache_blocks(2048 * kKilobyte).waiting_floats, cache_blocks(1024 * kKilobyte).waiting_floats);
}

TEST(CacheBlocks, TakeNoSizeThatAMachineTellsForGranted) {
  const CacheBlocks usual = cache_blocks(1024 * kKilobyte), unknown = cache_blocks(0);
  EXPECT_EQ(unknown.row_words, usual.row_words);
  EXPECT_EQ(unknown.waiting_floats, usual.waiting_floats);
  EXPECT_EQ(unknown.token_rows, usual.token_rows);
  EXPECT_EQ(cache_blocks(1).row_words, cache_blocks(256 * kKilobyte).row_words);
  EXPECT_EQ(cache_blocks(64 * kKilobyte * kKilobyte).row_words, usual.row_words);
  EXPECT_EQ(cache_blocks(4 * kKilobyte * kKilobyte).row_words, usual.row_words) << "no core has so much of its own";
}

TEST(CacheBlocks, AreThoseOfThisProcessor) {
  EXPECT_EQ(cache_blocks().row_words, cache_blocks(base::cpu_facts().l2_bytes).row_words);
}

}  // namespace
}  // namespace alate::cpu
