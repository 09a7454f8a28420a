#include "alate/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using base::error_of;

bool is_aligned(const Tensor& tensor, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignment == 0;
}

TEST(Tensor, HoldsACopyOfTheValues) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::from<float>({2, 3}, std::span<const float>(values));
  values[0] = 9;
  EXPECT_EQ(tensor.shape(), (Shape{DType::f32, {2, 3}}));
  EXPECT_EQ(tensor.extent(1), 3);
  EXPECT_EQ(tensor.values<float>()[0], 1);
  EXPECT_EQ(tensor.values<float>()[5], 6);
  EXPECT_EQ(tensor.byte_count(), 24U);
  EXPECT_TRUE(is_aligned(tensor, 64));
}

TEST(Tensor, EveryCppTypeHasItsDType) {
  EXPECT_EQ(Tensor::scalar(true).dtype(), DType::boolean);
  EXPECT_EQ(Tensor::scalar<std::int8_t>(1).dtype(), DType::i8);
  EXPECT_EQ(Tensor::scalar<std::uint16_t>(1).dtype(), DType::u16);
  EXPECT_EQ(Tensor::scalar<std::int64_t>(1).dtype(), DType::i64);
  EXPECT_EQ(Tensor::scalar(1.0).dtype(), DType::f64);
  EXPECT_EQ(Tensor::scalar(1.0).rank(), 0U);
  EXPECT_EQ(Tensor::scalar(2.5).values<double>()[0], 2.5);
}

TEST(Tensor, ANumberOfValuesThatDoesNotFitIsRefused) {
  EXPECT_EQ(error_of([] { Tensor::from<float>({2, 2}, {1, 2, 3}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([] { Tensor::from<float>({-1}, {1}); }).code(), ErrorCode::invalid_argument);
}

TEST(Tensor, ZerosAreZeroAndAligned) {
  const Tensor tensor = Tensor::zeros({DType::i4, {1001}});
  EXPECT_EQ(tensor.bytes().size(), 501U);
  EXPECT_TRUE(std::ranges::all_of(tensor.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(is_aligned(tensor, 64));
}

TEST(Tensor, CopiesShareTheBytes) {
  Tensor tensor = Tensor::zeros({DType::i32, {2}});
  const Tensor copy = tensor;
  tensor.mutable_values<std::int32_t>()[1] = 7;
  EXPECT_EQ(copy.values<std::int32_t>()[1], 7);
  EXPECT_TRUE(copy.shares_storage_with(tensor));
  EXPECT_FALSE(copy.shares_storage_with(Tensor::zeros({DType::i32, {2}})));
}

TEST(Tensor, NoElementsIsNotEmpty) {
  const Tensor none = Tensor::zeros({DType::f32, {0, 3}});
  EXPECT_FALSE(none.empty());
  EXPECT_TRUE(none.bytes().empty());
  EXPECT_FALSE(none.shares_storage_with(Tensor::zeros({DType::f32, {0, 3}})));
  const Tensor empty;
  EXPECT_TRUE(empty.empty());
  EXPECT_TRUE(empty.bytes().empty());
}

TEST(Tensor, BorrowedStorageLivesAsLongAsTheTensorAndIsNotWritable) {
  auto owner = std::make_shared<std::array<float, 3>>(std::array<float, 3>{1, 2, 3});
  const std::weak_ptr<std::array<float, 3>> watch = owner;
  Tensor tensor = Tensor::borrow({DType::f32, {3}}, reinterpret_cast<const std::byte*>(owner->data()), owner);
  const float* data = owner->data();
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(tensor.values<float>().data(), data);
  EXPECT_EQ(error_of([&] { tensor.mutable_bytes(); }).code(), ErrorCode::internal);
  EXPECT_EQ(error_of([&] { tensor.mutable_values<float>(); }).code(), ErrorCode::internal);
  tensor = {};
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, MisalignedBytesAreCopiedInsteadOfBorrowed) {
  alignas(8) std::array<std::byte, 12> bytes{};
  bytes[1] = std::byte{1};
  bytes[5] = std::byte{2};
  const Tensor tensor = Tensor::borrow({DType::i32, {2}}, bytes.data() + 1, nullptr);
  EXPECT_TRUE(is_aligned(tensor, 4));
  EXPECT_EQ(tensor.values<std::int32_t>()[0], 1);
  EXPECT_EQ(tensor.values<std::int32_t>()[1], 2);
  const Tensor unaligned_is_fine = Tensor::borrow({DType::u8, {2}}, bytes.data() + 1, nullptr);
  EXPECT_EQ(unaligned_is_fine.bytes().data(), bytes.data() + 1);
}

TEST(Tensor, ReadingAsAnotherTypeIsRefused) {
  const Tensor tensor = Tensor::zeros({DType::f16, {2}});
  EXPECT_EQ(error_of([&] { (void)tensor.values<float>(); }).code(), ErrorCode::internal);
  EXPECT_EQ(error_of([&] { (void)tensor.values<std::uint16_t>(); }).code(), ErrorCode::internal);
}

TEST(Tensor, ReshapingKeepsTheBytesAndTheCount) {
  const Tensor tensor = Tensor::from<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor flat = tensor.reshaped({6});
  EXPECT_TRUE(flat.shares_storage_with(tensor));
  EXPECT_EQ(flat.shape(), (Shape{DType::i32, {6}}));
  EXPECT_EQ(error_of([&] { (void)tensor.reshaped({7}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { (void)tensor.reshaped({-2, -3}); }).code(), ErrorCode::invalid_argument);
}

TEST(Tensor, MoreMemoryThanThereIsIsRefused) {
  EXPECT_EQ(error_of([] {
              Tensor::uninitialized({DType::f32, {std::int64_t{1} << 50}});
            }).code(),
            ErrorCode::resource_exhausted);
  EXPECT_EQ(error_of([] {
              Tensor::zeros({DType::f32, {std::int64_t{1} << 62}});
            }).code(),
            ErrorCode::resource_exhausted);
}

TEST(Tensor, TypesWithoutASizeHaveNoTensors) {
  EXPECT_EQ(error_of([] { Tensor::zeros({DType::invalid, {}}); }).code(), ErrorCode::internal);
  EXPECT_EQ(error_of([] { Tensor::zeros({DType::string, {1}}); }).code(), ErrorCode::internal);
  EXPECT_EQ(error_of([] { Tensor::borrow({DType::token, {}}, nullptr, nullptr); }).code(), ErrorCode::internal);
}

TEST(Tensor, NamedDimensionsHaveNoTensors) {
  EXPECT_EQ(error_of([] { Tensor::zeros({DType::f32, {Dim::of_id(0)}}); }).code(), ErrorCode::internal);
}

}  // namespace
}  // namespace alate
