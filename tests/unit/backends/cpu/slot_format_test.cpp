// Sizes of values by the formats of their slots.
#include "backends/cpu/plan/slot_format.h"

#include <gtest/gtest.h>

#include "backends/cpu/plan/integer_rows.h"

namespace alate::cpu {
namespace {

Shape f32(std::vector<Dim> dims) { return {DType::f32, std::move(dims)}; }

TEST(SlotFormat, IsRowMajorUnlessSet) {
  const SlotFormat format;
  EXPECT_TRUE(format.is_row_major());
  EXPECT_EQ(format.row_bytes(f32({5, 3, 4})), 3U * 4 * 4);
  EXPECT_EQ(format.bytes(f32({5, 3, 4})), 5U * 3 * 4 * 4);
  EXPECT_EQ(format.bytes({DType::u4, {Dim(5), Dim(3)}}), 8U);
  EXPECT_EQ(format.bytes(f32({0, 3})), 0U);
}

TEST(SlotFormat, StridedRowsAreApart) {
  const SlotFormat format = SlotFormat::strided_rows(20);
  EXPECT_EQ(format.row_elements(f32({5, 3, 4})), 20U);
  EXPECT_EQ(format.row_bytes(f32({5, 3, 4})), 80U);
  EXPECT_EQ(format.column_block(), 0);
}

TEST(SlotFormat, RowsOfColumnBlocksAreWithinABlock) {
  const SlotFormat format = SlotFormat::column_blocks(32);
  EXPECT_EQ(format.column_block(), 32);
  EXPECT_EQ(format.row_bytes(f32({7, 96})), 32U * 4);
  EXPECT_EQ(format.bytes(f32({7, 96})), 7U * 96 * 4) << "as many numbers, elsewhere";
}

TEST(SlotFormat, Bf16RowsTakeHalf) {
  const SlotFormat format = SlotFormat::bf16_rows();
  EXPECT_EQ(format.row_elements(f32({7, 6})), 6U);
  EXPECT_EQ(format.row_bytes(f32({7, 6})), 12U);
  EXPECT_EQ(format.bytes(f32({7, 6})), 84U);
}

TEST(SlotFormat, QuantizedRowsHaveTheirScalesAndOffsets) {
  const SlotFormat format = SlotFormat::quantized_rows({.groups = 4});
  const std::size_t words = quantized_row_words(64, 4, kernels().integers.kind), row = (words + 2 * 4) * 4;
  EXPECT_EQ(format.row_bytes(f32({7, 64})), row);
  EXPECT_EQ(format.bytes(f32({7, 64})), 7 * row);
  EXPECT_EQ(format.row_bytes(f32({7, 3, 64})), 3 * row) << "rows lie along the last axis";
  EXPECT_EQ(format.bytes(f32({7, 3, 64})), 21 * row);
}

TEST(SlotFormat, AreEqualByAllThatTheyStore) {
  EXPECT_EQ(SlotFormat::quantized_rows({.groups = 2, .smoothing = 3}),
            SlotFormat::quantized_rows({.groups = 2, .smoothing = 3}));
  EXPECT_NE(SlotFormat::quantized_rows({.groups = 2}), SlotFormat::quantized_rows({.groups = 2, .rotation = 128}));
  EXPECT_NE(SlotFormat::strided_rows(32), SlotFormat::column_blocks(32));
}

}  // namespace
}  // namespace alate::cpu
