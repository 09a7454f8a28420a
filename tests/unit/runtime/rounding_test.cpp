#include "runtime/batching/rounding.h"

#include <gtest/gtest.h>

#include <set>

namespace alate::runtime {
namespace {

TEST(Rounding, BucketsArePowersOfTwoAndThreeQuartersOfThem) {
  const std::pair<std::int64_t, std::int64_t> kRows[] = {{1, 16},  {16, 16}, {17, 24},   {24, 24},     {25, 32},
                                                         {33, 48}, {49, 64}, {100, 128}, {1025, 1536}, {1537, 2048}};
  for (const auto& [extent, bucket] : kRows) EXPECT_EQ(bucket_of(extent, 16), bucket) << extent;
  const std::int64_t kFromOne[] = {1, 2, 3, 4, 6, 6, 8, 8, 12};
  for (std::int64_t extent = 1; extent <= 9; ++extent) EXPECT_EQ(bucket_of(extent, 1), kFromOne[extent - 1]) << extent;
  std::set<std::int64_t> buckets;
  for (std::int64_t extent = 1; extent <= 512; ++extent) {
    EXPECT_GE(bucket_of(extent, 16), extent);
    buckets.insert(bucket_of(extent, 16));
  }
  EXPECT_EQ(buckets.size(), 11U);
}

TEST(Rounding, ResizesEveryAxis) {
  const Tensor tensor = Tensor::from<std::int32_t>({2, 2}, {1, 2, 3, 4});
  const Tensor larger = resized(tensor, {3, 3});
  EXPECT_TRUE(std::ranges::equal(larger.values<std::int32_t>(), std::vector<std::int32_t>{1, 2, 0, 3, 4, 0, 0, 0, 0}));
  EXPECT_TRUE(std::ranges::equal(resized(larger, {2, 2}).values<std::int32_t>(), tensor.values<std::int32_t>()));
  EXPECT_TRUE(std::ranges::equal(resized(larger, {1, 3}).values<std::int32_t>(), std::vector<std::int32_t>{1, 2, 0}));
  EXPECT_EQ(resized(tensor, {0, 2}).element_count(), 0);
}

TEST(Rounding, PadsNamedDimsOnlyAndCutsResults) {
  const Dim tokens = Dim::of_id(0), other = Dim::of_id(1);
  const std::vector<backends::Port> inputs = {{"ids", {DType::i32, {tokens}}}, {"w", {DType::i32, {other, 1}}}};
  const backends::Port output{"y", {DType::i32, {tokens, 1}}};
  const Rounding rounding({{0, 4}});
  const std::vector<backends::Buffer> given = {Tensor::from<std::int32_t>({3}, {7, 8, 9}),
                                               Tensor::from<std::int32_t>({1, 1}, {5})};
  const std::vector<backends::Buffer> padded = rounding.pad(given, inputs);
  EXPECT_TRUE(std::ranges::equal(padded[0].host()->values<std::int32_t>(), std::vector<std::int32_t>{7, 8, 9, 0}));
  EXPECT_EQ(padded[1].shape(), given[1].shape());
  const Tensor result = Tensor::from<std::int32_t>({4, 1}, {1, 2, 3, 4});
  const Tensor cut = rounding.cut(result, output, given, inputs);
  EXPECT_TRUE(std::ranges::equal(cut.values<std::int32_t>(), std::vector<std::int32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace alate::runtime
