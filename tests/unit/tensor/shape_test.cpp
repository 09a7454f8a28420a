#include <gtest/gtest.h>

#include <cstdint>

#include "alate/tensor.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using base::error_of;

TEST(Dim, IsANumberOrAnId) {
  constexpr Dim number = 7;
  constexpr Dim named = Dim::of_id(3);
  static_assert(number.is_number() && number.number() == 7);
  static_assert(!named.is_number() && named.id() == 3);
  static_assert(!Dim::of_id(0).is_number() && Dim::of_id(0).id() == 0);
  static_assert(number != named && named == Dim::of_id(3) && named != Dim::of_id(4));
  static_assert(Dim{} == Dim(0));
}

TEST(Shape, CountsElementsAndBytes) {
  const Shape shape{DType::f32, {2, 3, 4}};
  EXPECT_TRUE(shape.is_static());
  EXPECT_EQ(shape.rank(), 3U);
  EXPECT_EQ(shape.element_count(), 24);
  EXPECT_EQ(shape.byte_count(), 96U);
  EXPECT_EQ((Shape{DType::i4, {3, 3}}).byte_count(), 5U);
}

TEST(Shape, AScalarHasOneElementAndAZeroExtentNone) {
  EXPECT_EQ((Shape{DType::f64, {}}).element_count(), 1);
  EXPECT_EQ((Shape{DType::f64, {}}).byte_count(), 8U);
  EXPECT_EQ((Shape{DType::f64, {5, 0, 5}}).element_count(), 0);
}

TEST(Shape, OverflowIsRefusedUnlessAnExtentIsZero) {
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  EXPECT_EQ(error_of([] {
              (void)Shape{DType::i8, {kBig, kBig}}.element_count();
            }).code(),
            ErrorCode::resource_exhausted);
  EXPECT_EQ((Shape{DType::i8, {kBig, kBig, 0}}).element_count(), 0);
  EXPECT_EQ((Shape{DType::i8, {0, kBig, kBig}}).element_count(), 0);
  const Shape bytes_overflow{DType::f64, {std::int64_t{1} << 61}};
  EXPECT_EQ(bytes_overflow.element_count(), std::int64_t{1} << 61);
  EXPECT_EQ(error_of([&] { (void)bytes_overflow.byte_count(); }).code(), ErrorCode::resource_exhausted);
}

TEST(Shape, NamedDimensionsCannotBeCounted) {
  const Shape shape{DType::f32, {Dim::of_id(0), 8}};
  EXPECT_FALSE(shape.is_static());
  EXPECT_EQ(error_of([&] { (void)shape.element_count(); }).code(), ErrorCode::internal);
}

TEST(Shape, PrintsDTypeAndExtents) {
  EXPECT_EQ(to_string(Shape{DType::f32, {2, 3}}), "f32[2,3]");
  EXPECT_EQ(to_string(Shape{DType::boolean, {}}), "bool[]");
  EXPECT_EQ(to_string(Shape{DType::i64, {Dim::of_id(2), 8}}), "i64[?2,8]");
}

TEST(Shape, EqualityIsOfDTypeAndDims) {
  const Shape shape{DType::f32, {2, Dim::of_id(1)}};
  EXPECT_EQ(shape, (Shape{DType::f32, {2, Dim::of_id(1)}}));
  EXPECT_NE(shape, (Shape{DType::f16, {2, Dim::of_id(1)}}));
  EXPECT_NE(shape, (Shape{DType::f32, {2, Dim::of_id(0)}}));
  EXPECT_NE(shape, (Shape{DType::f32, {2}}));
}

TEST(ShapeOf, RefusesNegativeExtents) {
  EXPECT_EQ(detail::shape_of(DType::f32, {2, 0}), (Shape{DType::f32, {2, 0}}));
  EXPECT_EQ(error_of([] { detail::shape_of(DType::f32, {2, -1}); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace alate
